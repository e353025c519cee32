"""`openssl speed` output in the shapes that people paste."""

from tests.cases import each
from tests.parsers.openssl_texts import (
    CLASSIC,
    MODERN,
    NUMBERS,
    capture,
    codes,
    doing,
    figures,
    header,
    rates,
    read,
    rising,
    row,
)


def test_a_table_yields_a_figure_for_each_block_size() -> None:
    part = read(header(), row("aes-128-gcm", rising(40_000_000)))
    assert [figure.block_size for figure in figures(part)] == list(MODERN)
    assert rates(part) == rising(40_000_000)
    assert {(one.cipher, one.line, one.tool) for one in figures(part)} == {
        ("aes-128-gcm", 2, "openssl")
    }
    assert part.understood == {1, 2}
    assert part.remarks == ()


@each(
    "lines",
    (
        ("  > " + header(), "  > " + row("AES-128-CBC", rising(50_000_000))),
        ("```text", header(), row("AES-128-CBC", rising(50_000_000)), "```"),
        (header(), "**" + row("AES-128-CBC", rising(50_000_000)) + "**"),
        (" ".join(header().split()), " ".join(row("AES-128-CBC", rising(50_000_000)).split())),
        ("| " + header().replace("  ", " | "), "* `" + row("AES-128-CBC", rising(5e7)) + "`"),
        (header() + "\r", row("AES-128-CBC", rising(50_000_000)) + "\r"),
        ("\ufeff" + header(), row("AES-128-CBC", rising(50_000_000))),
        (" ".join((header() + " " + row("AES-128-CBC", rising(50_000_000))).split()),),
    ),
)  # fmt: skip
def test_what_pasting_adds_or_takes_changes_nothing(lines: tuple[str, ...]) -> None:
    assert rates(read(*lines)) == rising(50_000_000)


def test_lines_wrapped_by_a_terminal_are_whole_again() -> None:
    table = [header(), row("AES-256-CBC", [9_876_543_210.0] * 6)]
    narrow = [line[start : start + 80] for line in table for start in range(0, len(line), 80)]
    part = read(*narrow)
    assert [figure.block_size for figure in figures(part)] == list(MODERN)
    assert set(rates(part)) == {9_876_543_210.0}
    assert part.understood == {1, 2, 3, 4}


def test_a_row_that_was_cut_yields_the_figures_before_the_cut() -> None:
    part = read(header(CLASSIC), row("aes-128 cbc", rising(50_000_000, 5))[:45])
    assert rates(part) == rising(50_000_000, 5)[:2]
    assert codes(part) == ["damaged"]


def test_a_figure_without_its_k_at_the_end_of_a_row_is_no_figure() -> None:
    whole = row("aes-128 cbc", [5_000_000.0, 6_000_000.0])
    part = read(header((16, 64)), whole[:-1])
    assert rates(part) == [5_000_000.0]
    assert codes(part) == ["damaged"]


def test_what_is_no_rate_is_a_remark() -> None:
    part = read(
        header((16, 64, 256)),
        "idea cbc             0.00         0.00         0.00 ",
        "AES-128-CBC          infk    -52345.10         nank",
        "rc4                 0.00k      900.00k        0.00k",
    )
    assert rates(part) == [900_000.0]
    assert codes(part) == ["zero_rate", "not_a_rate", "zero_rate"]
    assert part.understood == {1, 2, 3, 4}


def test_without_a_header_the_usual_sizes_are_taken_and_it_is_said() -> None:
    five = read(row("aes-128 cbc", rising(50_000_000, 5)))
    assert [figure.block_size for figure in figures(five)] == list(CLASSIC)
    assert codes(five) == ["blocks_assumed"]
    ssleay = read("SSLeay 0.8.1 20-Jul-1997", row("des cbc", rising(2_000_000, 5)))
    assert [figure.block_size for figure in figures(ssleay)] == [8, 64, 256, 1024, 8192]


def test_a_header_cut_in_its_last_size_is_completed_only_where_that_is_certain() -> None:
    part = read(header()[:-8], row("AES-128-CBC", rising(50_000_000)))
    assert [figure.block_size for figure in figures(part)] == list(MODERN)
    assert codes(part) == ["blocks_assumed"]


def test_one_column_of_any_size() -> None:
    part = read(header((1420,)), row("AES-128-CTR", [7_000_000_000.0]))
    assert [figure.block_size for figure in figures(part)] == [1420]


def test_rows_that_are_no_ciphers_are_counted_in_one_remark() -> None:
    part = read(
        header((16,)),
        row("md5", [86_000_000.0]),
        row("rc4", [90_000_000.0]),
        "                  sign    verify    sign/s verify/s",
        "rsa 2048 bits 0.000320s 0.000019s   3121.9  52842.2",
        " 253 bits EdDSA (Ed25519)   0.0000s   0.0001s  25270.2   7743.6",
        "Doing 2048 bits private rsa's for 10s: 3121 2048 bits private RSA's in 9.99s",
    )
    assert [figure.cipher for figure in figures(part)] == ["rc4"]
    assert codes(part) == ["not_a_cipher"]
    assert part.remarks[0].detail.startswith("3 rows")
    assert len(part.understood) == 7


def test_counts_alone_yield_bytes_and_seconds() -> None:
    part = read(doing("aes-128-cbc", 16, 9_000_000), doing("aes-128-cbc", 64, 2_500_000, 2.99))
    assert [(one.bytes, one.seconds) for one in figures(part)] == [
        (144_000_000, 3.0),
        (160_000_000, 2.99),
    ]


def test_a_count_beside_its_row_is_no_figure_of_its_own() -> None:
    part = read(
        doing("aes-128-cbc", 16, 9_000_000),
        "OpenSSL 1.0.2k  26 Jan 2017",
        header((16,)),
        row("aes-128-cbc", [48_000_000.0]),
    )
    assert rates(part) == [48_000_000.0]
    assert figures(part)[0].bytes is None


def test_standard_error_after_standard_output_is_not_counted_again() -> None:
    name = "3.0.19-evp-aes-128-gcm.human"
    alone = read(capture(f"{name}.out"))
    both = read(capture(f"{name}.out"), capture(f"{name}.err"))
    assert rates(both) == rates(alone)
    assert "repeated" in codes(both)


def test_counts_wrapped_before_their_seconds_are_read() -> None:
    part = read(
        "Doing AES-256-CBC ops for 3s on 16 size blocks: 1071013 AES-256-CBC ops in",
        "3.00s",
        "Doing AES-256-CBC ops for 3s on 64 size blocks: 310",
        "661 AES-256-CBC ops in 3.01s",
    )
    assert [figure.bytes for figure in figures(part)] == [1_071_013 * 16, 310_661 * 64]


def test_a_rate_from_borrowed_time_is_kept_and_flagged() -> None:
    part = read(
        doing("aes-128-cbc", 8192, 4879, 0.02),
        header((8192,)),
        row("aes-128-cbc", [1_998_438_400.0]),
    )
    assert rates(part) == [1_998_438_400.0]
    assert "0.02 s" in (figures(part)[0].implausible or "")
    assert codes(part) == ["implausible"]


def test_little_cpu_time_is_only_doubted_where_the_rate_fits_its_neighbours() -> None:
    """A busy machine: 0.21 s were left to the program of the second it ran."""
    rates_seen = [3_470_016_000.0, 3_640_003_047.6, 3_820_003_328.0]
    part = read(
        doing("aes-128-cbc", 1024, 3_388_688, 1.0, 1),
        doing("aes-128-cbc", 8192, 93_311, 0.21, 1),
        doing("aes-128-cbc", 16384, 233_155, 1.0, 1),
        header((1024, 8192, 16384)),
        row("aes-128-cbc", rates_seen),
    )
    assert [figure.implausible for figure in figures(part)] == [None] * 3
    assert codes(part) == ["little_cpu_time"]
    assert "at 8192 bytes" in part.remarks[0].detail


def test_what_an_engine_makes_of_little_cpu_time_stays_implausible() -> None:
    part = read(
        doing("aes-128-cbc", 1024, 90_000, 1.0, 1),
        doing("aes-128-cbc", 8192, 60_000, 0.21, 1),
        header((1024, 8192)),
        row("aes-128-cbc", [92_160_000.0, 2_340_571_428.6]),
    )
    assert [bool(figure.implausible) for figure in figures(part)] == [False, True]
    assert "or other processes held the CPU" in (figures(part)[1].implausible or "")


def test_a_table_that_contradicts_its_counts_is_flagged() -> None:
    part = read(doing("rc4", 16, 9_000_000), header((16,)), row("rc4", [96_000_000.0]))
    assert figures(part)[0].implausible is not None


def test_a_kernel_engine_without_elapsed_is_flagged() -> None:
    table = (header((16,)), row("AES-128-CBC", [9_000_000_000.0]))
    doubtful = read("$ openssl speed -evp aes-128-cbc -engine devcrypto", *table)
    sound = read("$ openssl speed -elapsed -evp aes-128-cbc -engine devcrypto", *table)
    assert figures(doubtful)[0].implausible is not None
    assert figures(sound)[0].implausible is None


def test_the_sum_of_several_processes_counts_and_their_own_rows_do_not() -> None:
    part = read(capture("1.1.1w-multi2.human.err"), capture("1.1.1w-multi2.human.out"))
    assert rates(part) == [2_844_934_140.0]
    assert figures(part)[0].threads == 2
    assert figures(part)[0].cipher == "aes-128-cbc"
    assert figures(part)[0].block_size == 16384
    texts = "\n".join([capture("1.1.1w-multi2.human.err"), capture("1.1.1w-multi2.human.out")])
    (remark,) = part.remarks
    assert remark.code == "children"
    assert texts.splitlines()[(remark.line or 0) - 1] == "Forked child 0"


def test_the_sum_is_found_in_machine_output_too() -> None:
    part = read(capture("1.1.1w-multi2.mr.out"))
    assert [(one.cipher, one.threads) for one in figures(part)] == [("aes-128-cbc", 2)]
    assert rates(part) == [2_846_801_920.0]


@each("number", ("$(nproc)", "$n", "$1", '"${T}"', "`nproc`", "99999999"))
def test_a_sum_of_an_unknown_number_of_processes_is_left_out(number: str) -> None:
    speed = f"openssl speed -multi {number} -evp aes-128-gcm"
    small, large = row("AES-128-GCM", rising(5e9)), row("AES-128-GCM", rising(9e9))
    for shown in (
        (f"$ {speed} | tail -1", small),
        (
            f"$ for n in 1 4; do echo threads $n; {speed}; done",
            "threads 1",
            small,
            "threads 4",
            large,
        ),
        (f"$ for n in 1 4; do echo; echo $n; {speed}; done", "", "1", small, "", "4", large),
        ("$ cat m.sh", speed, "", "$ ./m.sh 1", small, "$ ./m.sh 4", large),
    ):
        part = read(*shown)
        assert figures(part) == []
        assert codes(part)[0] == "command_unclear"


@each("option", ("-multi 8", "-decrypt"))
def test_what_a_loop_prints_between_its_tables_does_not_end_what_the_command_says(
    option: str,
) -> None:
    part = read(
        f"$ for c in aes-128-cbc aes-256-cbc; do echo $c; openssl speed {option} -evp $c; done",
        *("aes-128-cbc", row("AES-128-CBC", rising(5e9))),
        *("aes-256-cbc", row("AES-256-CBC", rising(4e9))),
    )
    assert {one.cipher for one in figures(part)} == {"aes-128-cbc"}
    assert codes(part) == ["blocks_assumed", "context_unclear"]


def test_without_a_header_aead_has_its_own_block_sizes() -> None:
    speed = "$ for c in aes-128-gcm; do echo $c; openssl speed -aead -evp $c | tail -1; done"
    small, large = row("AES-128-GCM", rising(5e9)), row("AES-256-GCM", rising(4e9))
    part = read(speed, "aes-128-gcm", small, "aes-256-gcm", large)
    assert [one.block_size for one in figures(part)] == [2, 31, 136, 1024, 8192, 16384] * 2
    assert codes(part) == ["blocks_assumed"] * 2
    assert figures(read(speed, row("AES-128-GCM", rising(5e9, 5)))) == []


def test_interleaved_results_of_several_processes_are_not_paired() -> None:
    part = read(
        "+DT:AES-128-GCM:3:16",
        "+DT:AES-128-GCM:3:16",
        "+R:9382290:AES-128-GCM:3.000000",
        "+DT:AES-128-GCM:3:64",
        "+R:8569525:AES-128-GCM:3.000000",
    )
    assert figures(part) == []
    assert codes(part) == ["children"]


def test_machine_output_is_in_plain_bytes_per_second() -> None:
    part = read(capture("101-evp-aes-128-cbc.mr.out"))
    assert [figure.cipher for figure in figures(part)] == ["aes-128-cbc"] * 5
    assert all(rate > 100_000_000 for rate in rates(part))
    counted = figures(read(capture("101-evp-aes-128-cbc.mr.err")))
    assert [figure.block_size for figure in counted] == [16, 64, 256, 1024, 8192]
    assert all(figure.bytes and figure.seconds for figure in counted)


def test_keys_in_machine_output_are_no_ciphers() -> None:
    part = read(capture("1.1.1w-pki.mr.out"))
    assert figures(part) == []
    assert codes(part) == ["not_a_cipher"]


def test_decryption_is_known_from_the_command_or_a_heading() -> None:
    table = (header((16,)), row("AES-128-CBC", [5_000_000_000.0]))
    for before in ("$ openssl speed -decrypt -evp aes-128-cbc", "## Decryption"):
        assert [one.operation for one in figures(read(before, *table))] == ["decrypt"]
    assert [one.operation for one in figures(read("Encrypt:", *table))] == ["encrypt"]


@each(
    "before",
    (
        "OPENSSL_ia32cap='~0x200000200000000' openssl speed -evp aes-128-gcm",
        "OPENSSL_ia32cap=”~0x200000200000000″ openssl speed -evp aes-128-gcm",
        "$ export OPENSSL_ia32cap=~0x200000200000000\n$ openssl speed -evp aes-128-gcm",
        "CPUINFO: OPENSSL_ia32cap=0xfdfa3201078bffff:0x0 env:~0x200000200000000",
        "OPENSSL_ia32cap=~0x1000000 openssl speed -evp aes-128-gcm",
        "OPENSSL_armcap=0xfb openssl speed -evp aes-128-gcm",
        "OPENSSL_ppccap=0x3 openssl speed -evp aes-128-gcm",
        "The same with AES-NI disabled:",
    ),
)
def test_a_mask_that_turns_aes_off_is_known(before: str) -> None:
    part = read(before, header((16,)), row("AES-128-GCM", [26_000_000.0]))
    assert [one.acceleration for one in figures(part)] == ["masked"]


@each(
    "before",
    (
        "OPENSSL_ia32cap=:~0x20000000000 openssl speed -evp aes-128-gcm",
        "OPENSSL_ia32cap='~0x40' openssl speed -evp aes-128-gcm",
        "OPENSSL_armcap=0x4 openssl speed -evp aes-128-gcm",
        "OPENSSL_ppccap=0x4 openssl speed -evp aes-128-gcm",
        "CPUINFO: OPENSSL_armcap=0xbd",
        "$ export OPENSSL_ia32cap=~0x200000200000000\n$ unset OPENSSL_ia32cap\n"
        "$ openssl speed -evp aes-128-gcm",
        "With AES-NI:",
    ),
)
def test_other_settings_leave_aes_on(before: str) -> None:
    part = read(before, header((16,)), row("AES-128-GCM", [26_000_000.0]))
    assert [one.acceleration for one in figures(part)] == ["default"]


@each(
    ("line", "version"),
    (
        ("OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 1.1.1w  11 Sep 2023"),
        ("version: 3.0.19", "OpenSSL 3.0.19"),
        ("version: 3.2.0-dev", "OpenSSL 3.2.0-dev"),
        ("OpenSSL 3.0.11 19 Sep 2023 (Library: OpenSSL 3.0.11 19 Sep 2023)", None),
        ("OpenSSL 1.0.2o-freebsd  27 Mar 2018", None),
        ("OpenSSL 1.0.1e-fips 11 Feb 2013", None),
        ("LibreSSL 2.8.3", None),
        ("SSLeay 0.6.6 14-Jan-1997", None),
        ("version:SSLeay 0.5.2c 15-May-1996", "SSLeay 0.5.2c 15-May-1996"),
        ("OpenSSL 1.1.1d, built on 10 Sep 2019", None),
        ("OpenSSL (version 1.1.0f, built on 25 May 2017)",
         "OpenSSL 1.1.0f, built on 25 May 2017"),
    ),
)  # fmt: skip
def test_a_version_line_in_every_spelling(line: str, version: str | None) -> None:
    part = read(line, header((16,)), row("rc4", [26_000_000.0]))
    assert part.sections[0].environment["openssl"]["version_text"] == (version or line)
    assert part.understood == {1, 2, 3}


def test_build_facts_go_into_the_environment() -> None:
    part = read(
        "version: 3.0.19",
        "built on: built on: Fri Apr  3 12:29:32 2026 UTC",
        "options: bn(64,64)",
        "compiler: gcc -fPIC -pthread -m64",
        " -O2 -DNDEBUG",
        "CPUINFO: OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab",
        NUMBERS,
        header((16,)),
        row("rc4", [26_000_000.0]),
    )
    assert part.sections[0].environment == {
        "openssl": {
            "version_text": "OpenSSL 3.0.19",
            "built_on": "Fri Apr  3 12:29:32 2026 UTC",
            "options": "bn(64,64)",
            "compiler": "gcc -fPIC -pthread -m64 -O2 -DNDEBUG",
            "cpu_settings": "OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab",
        }
    }
    assert part.understood == set(range(1, 10))


def test_what_the_tool_does_not_know_is_no_fact() -> None:
    part = read(
        "LibreSSL 2.8.3",
        "built on: date not available",
        "compiler: information not available",
        header((16,)),
        row("rc4", [26_000_000.0]),
    )
    assert part.sections[0].environment == {"openssl": {"version_text": "LibreSSL 2.8.3"}}


def test_runs_of_two_versions_are_two_sections() -> None:
    part = read(
        "OpenSSL 1.1.1d  10 Sep 2019",
        header((16,)),
        row("aes-128-gcm", [690_000_000.0]),
        "version: 3.0.0",
        header((16,)),
        row("AES-128-GCM", [287_000_000.0]),
    )
    assert [section.label for section in part.sections] == ["OpenSSL 1.1.1d", "OpenSSL 3.0.0"]


def test_runs_of_one_loop_are_one_section() -> None:
    part = read(
        *("OpenSSL 1.1.1d  10 Sep 2019", header((16,)), row("aes-128-gcm", [690_000_000.0])),
        *("OpenSSL 1.1.1d  10 Sep 2019", header((16,)), row("aes-256-gcm", [590_000_000.0])),
    )
    assert [len(section.figures) for section in part.sections] == [2]


def test_prose_between_tables_keeps_machines_apart() -> None:
    part = read(
        *("My old laptop:", "", header((16,)), row("aes-128-gcm", [690_000_000.0]), ""),
        *("And my desktop:", "", header((16,)), row("aes-256-gcm", [990_000_000.0])),
    )
    assert [section.label for section in part.sections] == ["My old laptop", "And my desktop"]


def test_a_version_asked_for_first_holds_for_the_tables_after_it() -> None:
    part = read(
        "root@nas:~# openssl version",
        "OpenSSL 1.1.1d  10 Sep 2019",
        "root@nas:~# openssl speed -evp aes-128-gcm 2>/dev/null | tail -2",
        header((16,)),
        row("aes-128-gcm", [690_000_000.0]),
    )
    section = part.sections[0]
    assert section.environment["openssl"]["version_text"] == "OpenSSL 1.1.1d  10 Sep 2019"
    assert section.host == "nas"


def test_the_tools_own_code_and_evp_do_not_become_tries_of_one_series() -> None:
    part = read(
        header((16,)),
        row("aes-128 cbc", [105_000_000.0]),
        row("aes-128-cbc", [615_000_000.0]),
    )
    assert [len(section.figures) for section in part.sections] == [1, 1]


def test_a_bare_evp_takes_the_name_of_the_command() -> None:
    named = read("$ openssl speed -evp aes-256-ctr", header((16,)), row("evp", [690_000_000.0]))
    assert [one.cipher for one in figures(named)] == ["aes-256-ctr"]
    unnamed = read(header((16,)), row("evp", [690_000_000.0]))
    assert figures(unnamed) == []
    assert codes(unnamed) == ["no_cipher"]


@each(
    "text",
    (
        "aes128-ctr: 104.822 MB/s\naes256-ctr:  79.17 MB/s",
        "AES-128-CBC is 3.50 times as fast",
        "real 12.345s\nuser 0.81s\nsys 0.36s",
        "536870912 bytes (537 MB, 512 MiB) copied, 2.4155 s, 222 MB/s",
        "OpenSSL 3.0 is slower than OpenSSL 1.1.1 was",
        "$ openssl speed -evp aes-128-foo\nspeed: aes-128-foo is an unknown cipher or digest",
    ),
)
def test_other_texts_yield_nothing(text: str) -> None:
    assert read(text).sections == ()


def test_times_of_another_command_are_left_to_others() -> None:
    part = read(
        header((16,)),
        row("rc4", [690_000_000.0]),
        "$ time ssh localhost true",
        "real 0m1.500s",
    )
    assert 4 not in part.understood


def test_a_capture_of_098_is_understood_whole() -> None:
    text = capture("098-classic.human.err") + capture("098-classic.human.out")
    part = read(text.rstrip("\n"))
    assert [one.cipher for one in figures(part)][::5] == [
        "rc4", "des-ede3-cbc", "bf-cbc", "aes-128-cbc",
    ]  # fmt: skip
    assert part.understood == set(range(1, text.rstrip("\n").count("\n") + 2))
    assert not any(one.implausible for one in figures(part))
