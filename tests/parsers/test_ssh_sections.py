"""What belongs together in an ssh text: machines, masks, tries, facts."""

from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read

SUMMARY = "104857600 bytes (105 MB, 100 MiB) copied, 0.34 s, 308 MB/s"
MASK = "~0x200000200000000"


def test_headings_of_machines_divide_a_text() -> None:
    part = read("Raspberry Pi 4:\naes128-ctr: 40 MB/s\n\nRaspberry Pi 5:\naes128-ctr: 400 MB/s\n")
    assert [section.label for section in part.sections] == ["Raspberry Pi 4", "Raspberry Pi 5"]


def test_a_heading_after_which_the_ciphers_begin_anew_divides_a_text() -> None:
    part = read("Attic:\naes128-ctr: 40 MB/s\nCellar:\naes128-ctr: 400 MB/s\n")
    assert [len(section.figures) for section in part.sections] == [1, 1]


def test_headings_of_kinds_of_ciphers_and_of_runs_do_not() -> None:
    part = read("Old ones:\n3des-cbc: 4 MB/s\nNew ones:\naes128-ctr: 40 MB/s\n")
    assert len(part.sections) == 1
    part = read("Run 1:\naes128-ctr: 40 MB/s\nRun 2:\naes128-ctr: 41 MB/s\n")
    assert [len(section.figures) for section in part.sections] == [2]


def test_prompts_of_two_hosts_are_two_machines() -> None:
    command = "dd if=/dev/zero bs=1M count=100 | ssh -c aes128-ctr localhost cat"
    part = read(f"me@attic:~$ {command}\n{SUMMARY}\nme@cellar:~$ {command}\n{SUMMARY}\n")
    assert [section.host for section in part.sections] == ["attic", "cellar"]


def test_a_mask_in_the_command_is_of_that_command() -> None:
    command = "dd if=/dev/zero bs=1M count=100 |{} ssh -c aes128-ctr localhost cat"
    masked = command.format(f" OPENSSL_ia32cap={MASK}")
    part = read(f"$ {masked}\n{SUMMARY}\n$ {command.format('')}\n{SUMMARY}\n")
    assert [figure.acceleration for figure in figures(part)] == ["masked", "default"]


def test_an_exported_mask_holds_until_it_is_unset() -> None:
    command = "$ dd if=/dev/zero bs=1M count=100 | ssh -c aes128-ctr localhost cat"
    part = read(
        f"{command}\n{SUMMARY}\n$ export OPENSSL_ia32cap={MASK}\n{command}\n{SUMMARY}\n"
        f"$ unset OPENSSL_ia32cap\n{command}\n{SUMMARY}\n"
    )
    accelerations = [figure.acceleration for figure in figures(part)]
    assert accelerations == ["default", "masked", "default"]


def test_a_mask_that_leaves_aes_on_is_none() -> None:
    command = "dd bs=1M count=1 | OPENSSL_ia32cap=:~0x20 ssh -c aes128-ctr localhost cat"
    (figure,) = figures(read(f"$ {command}\n{SUMMARY}\n"))
    assert figure.acceleration == "default"


@each("heading", (f"OPENSSL_ia32cap={MASK}:", "With AES-NI disabled:", "Masked:"))
def test_a_heading_about_the_mask_holds_until_the_next(heading: str) -> None:
    part = read(f"{heading}\naes128-cbc: 100 MB/s\nDefault:\naes128-cbc: 300 MB/s\n")
    assert [figure.acceleration for figure in figures(part)] == ["masked", "default"]


def test_a_heading_may_speak_of_compression() -> None:
    part = read("With compression:\naes128-cbc: 9 MB/s\nNo compression:\naes128-cbc: 30 MB/s\n")
    assert [figure.compression for figure in figures(part)] == [True, False]


def test_a_list_after_its_tries_counts_once() -> None:
    part = read(f"Cipher: aes128-ctr (try 1)\n{SUMMARY}\n\nSummary:\naes128-ctr: 308 MB/s\n")
    assert rates(part) == [("aes128-ctr", 308_404_706)]
    assert codes(part) == ["repeated"]


def test_rates_below_a_name_are_its_tries_and_their_average_is_none() -> None:
    part = read("### aes128-ctr\nSpeed: 104 MB/s\nSpeed: 106 MB/s\nAverage: 105 MB/s\n")
    assert rates(part) == [("aes128-ctr", 104_000_000), ("aes128-ctr", 106_000_000)]


def test_scp_counts_in_powers_of_two() -> None:
    part = read("aes128-ctr\nfile.bin        100%   41MB   1.2MB/s   00:35\n")
    assert rates(part) == [("aes128-ctr", round(1.2 * 2**20))]


def test_facts_of_the_environment_are_kept() -> None:
    part = read(
        "$ ssh -V\nOpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19 27 Jan 2026\n"
        "$ uname -a\nLinux attic 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 x86_64 GNU/Linux\n"
        'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'
        "model name\t: AMD EPYC 9R14\nflags\t\t: fpu aes avx\n"
        "aes128-ctr: 100 MB/s\n"
    )
    (section,) = part.sections
    assert section.host == "attic"
    assert section.environment == {
        "openssh": {"client": "OpenSSH_9.2p1 Debian-2+deb12u6"},
        "openssl": {"version_text": "OpenSSL 3.0.19 27 Jan 2026"},
        "os": {"kernel": "Linux 6.1.0-18-amd64", "name": "Debian GNU/Linux", "version": "12"},
        "cpu": {"architecture": "x86_64", "model": "AMD EPYC 9R14", "flags": ["fpu", "aes", "avx"]},
    }
    assert part.understood == set(range(1, 9))


@each(
    "line",
    (
        "it is currently: `OpenSSH_9.5p1, OpenSSL 3.1.4 24 Oct 2023`",
        "| nas | OpenSSH_9.5p1, OpenSSL 3.1.4 24 Oct 2023 | Debian |",
        "<b>OpenSSH_9.5p1, OpenSSL 3.1.4 24 Oct 2023</b>",
        "Tested with OpenSSH_9.5p1, OpenSSL 3.1.4 24 Oct 2023 on a NAS.",
        "OpenSSH_9.5p1, OpenSSL 3.1.4 24 Oct 2023",
    ),
)
def test_a_version_ends_where_its_date_does(line: str) -> None:
    (section,) = read(f"{line}\naes128-ctr 100 MB/s\n").sections
    assert section.environment == {
        "openssh": {"client": "OpenSSH_9.5p1"},
        "openssl": {"version_text": "OpenSSL 3.1.4 24 Oct 2023"},
    }


def test_a_heading_names_the_cpu_and_the_system() -> None:
    (section,) = read("Intel Core i7-3770 / Fedora 20:\naes128-ctr 100 MB/s\n").sections
    assert section.environment == {
        "cpu": {"model": "Intel Core i7-3770"},
        "os": {"name": "Fedora", "version": "20"},
    }


def test_facts_without_a_figure_make_no_section() -> None:
    part = read("flags\t\t: fpu aes avx\n")
    assert part.sections == ()
    assert part.understood == {1}


def test_a_list_pasted_twice_counts_once() -> None:
    text = "aes128-ctr: 104.1 MB/s\naes192-ctr: 93.2 MB/s\naes256-ctr: 85.3 MB/s\n"
    part = read(text + "\n" + text)
    assert len(figures(part)) == 3
    assert codes(part) == ["repeated"]


def test_a_sentence_about_what_is_not_supported_spoils_no_figure() -> None:
    part = read(f"aes128-ctr\nOld keys are not supported by this server.\n{SUMMARY}\n")
    assert rates(part) == [("aes128-ctr", 308_404_706)]


def test_an_everyday_word_is_no_cipher() -> None:
    assert rates(read(f"ssh to the nas\nnone\n{SUMMARY}\n")) == []


def test_remarks_are_sentences_with_their_count() -> None:
    (remark,) = read("aes128-ctr: 1 MB/s\naes256-ctr: 2 MB/s", unit=None).remarks
    assert (remark.line, remark.code) == (1, "unit_assumed")
    assert remark.detail.startswith("MB is taken")
    assert remark.detail.endswith("2 lines")


@each(
    ("first", "second"),
    (
        ("First day:", "Second day:"),
        ("Day 1:", "Day 2:"),
        ("Monday:", "Tuesday:"),
        ("2015-03-01:", "2015-03-02:"),
        ("In the morning:", "In the evening:"),
        ("First measurement:", "Once more:"),
    ),
)
def test_headings_of_days_are_tries_of_one_machine(first: str, second: str) -> None:
    part = read(f"me@nas:~$ ./loop\n{first}\naes128-ctr: 40 MB/s\n{second}\naes128-ctr: 41 MB/s\n")
    assert [(one.host, one.label, len(one.figures)) for one in part.sections] == [("nas", None, 2)]


def test_flags_beyond_what_a_document_holds_are_left_out() -> None:
    flags = " ".join(["aes", "x" * 200, *(f"f{number}" for number in range(1600))])
    (section,) = read(f"flags\t\t: {flags}\naes128-ctr: 100 MB/s\n").sections
    kept = section.environment["cpu"]["flags"]
    assert kept[:2] == ["aes", "f0"]
    assert len(kept) == 1000


@each("row", ("Speed: 70 MB/s, 45% CPU", "1024 MB 70 MB/s", "1 GB, 70 MB/s"))
def test_rates_below_a_name_may_have_an_amount_or_a_share_of_the_cpu_beside_them(row: str) -> None:
    assert rates(read(f"aes128-ctr\n{row}\n{row}\n")) == [("aes128-ctr", 70_000_000)] * 2


SENT = "104857600 bytes (105 MB) copied, {} s, {} MB/s"


@each(
    "text",
    (
        f"aes128-ctr\n{SENT.format('1.05', 100)} 3des-cbc\n{SENT.format('2.1', 50)}\n",
        f"aes128-ctr\n{SENT.format('1.05', 100)} 3des-cbc: 50 MB/s\n",
        f"aes128-ctr: 100%  10MB  98.1MB/s   00:01 3des-cbc\n{SENT.format('2.1', 50)}\n",
        "$ ssh -c aes128-ctr nas cat </x | pv >/dev/null\n1GiB 0:00:10 [ 100MiB/s]"
        " $ ssh -c 3des-cbc nas cat </x | pv >/dev/null\n1GiB 0:00:20 [ 50MiB/s]\n",
    ),
)
def test_a_name_behind_a_result_is_that_of_the_next(text: str) -> None:
    assert [cipher for cipher, _ in rates(read(text))] == ["aes128-ctr", "3des-cbc"]
