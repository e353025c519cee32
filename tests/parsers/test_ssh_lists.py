"""Lists of rates by cipher, as people write and paste them."""

from types import ModuleType

import pytest

from parsers.read_text import read_text
from parsers.ssh import reading_state
from parsers.ssh import text as text_module
from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read, refused

SPELLINGS = (
    "aes128-ctr: 104.167 MB/s",
    "aes128-ctr - 104.167 MB/s",
    "aes128-ctr = 104.167 MB/sec",
    "aes128-ctr\t104.167\tMB/s",
    "aes128-ctr      104.167 MBytes/s",
    "aes128-ctr:104.167MB/s",
    "aes128-ctr..........: 104.167 MB/s",
    "aes128-ctr -> 104.167 MBps",
    "3. aes128-ctr 104.167 MB/s",
    "- **aes128-ctr**: 104.167 MB/s",
    "* `aes128-ctr`: 104.167 MB/s",
    "| aes128-ctr | 104.167 MB/s |",
    '"aes128-ctr": "104.167 MB/s"',
    '"aes128-ctr","104.167 MB/s"',
    "> aes128-ctr: 104.167 MB/s",
    "104.167 MB/s aes128-ctr",
    "aes128-ctr: 104167 kB/s",
    "aes128-ctr: 0.104167 GB/s",
    "aes128-ctr: 833.336 Mbit/s",
    "aes128-ctr: 833.336 Mbps",
    "aes128-ctr: 104167000 bytes/s",
    "aes128-ctr: 104.167 MB/s (833 Mbit/s)",
    "aes128-ctr: 104.167 MB/s, 833.34 Mbit/s",
    "aes128-ctr: 104.167 megabytes per second",
    "aes128-ctr: 104167 kilobytes per second",
    "aes128-ctr: 0.96 s, 104.167 MB/s",
    "AES128-CTR: 104.167 MB/s  # with a cold cache",
)


@each("line", SPELLINGS)
def test_a_rate_is_read_in_every_spelling(line: str) -> None:
    assert rates(read(line)) == [("aes128-ctr", 104_167_000)]


@each("line", ("aes128-ctr: 100 MiB/s", "aes128-ctr 0.09765625 GiB/s"))
def test_binary_units_mean_powers_of_two(line: str) -> None:
    part = read(line, unit=None)
    assert rates(part) == [("aes128-ctr", 104_857_600)]
    assert codes(part) == []


def test_mb_is_two_to_the_twentieth_where_the_reader_was_told_so() -> None:
    assert rates(read("aes128-ctr: 100 MB/s", unit="MiB")) == [("aes128-ctr", 104_857_600)]


def test_that_mb_was_assumed_is_said() -> None:
    part = read("aes128-ctr: 100 MB/s", unit=None)
    assert rates(part) == [("aes128-ctr", 100_000_000)]
    assert codes(part) == ["unit_assumed"]


@each(("divided", "bs", "rate"), (("100", "1M", 104_857_600), ("1000", "1000000", 100_000_000)))
def test_the_division_in_the_command_says_what_mb_means(divided: str, bs: str, rate: int) -> None:
    command = (
        f"$ for c in $list; do dd if=/dev/zero bs={bs} count={divided} | ssh -c $c localhost "
        '"(time -p cat) >/dev/null" 2>&1 | '
        f"awk '/real/ {{print \"'$c': \"{divided}/$2\" MB/s\"}}'; done"
    )
    part = read(f"{command}\naes128-ctr: 100 MB/s\n", unit=None)
    assert rates(part) == [("aes128-ctr", rate)]
    assert codes(part) == []


@each("line", ("aes128-ctr: 104 Mb/s", "aes128-ctr: 104 mb/s"))
def test_a_unit_that_may_be_bits_is_left_out(line: str) -> None:
    assert codes(read(line)) == ["unit_unclear"]
    assert rates(read(line)) == []


def test_decimal_commas_are_known_by_the_other_numbers() -> None:
    part = read("aes128-ctr: 104,167 MB/s\naes256-ctr: 85,4701 MB/s")
    assert rates(part) == [("aes128-ctr", 104_167_000), ("aes256-ctr", 85_470_100)]


def test_thousands_separators_are_known_by_the_decimals() -> None:
    part = read("aes128-ctr: 1,204.5 MB/s\naes256-ctr: 1,100 MB/s")
    assert rates(part) == [("aes128-ctr", 1_204_500_000), ("aes256-ctr", 1_100_000_000)]


def test_a_number_that_may_be_two_is_left_out() -> None:
    part = read("aes128-ctr: 104,167 MB/s")
    assert rates(part) == []
    assert codes(part) == ["damaged"]


@each(
    ("printed", "name"),
    (
        ("aes128-gcm", "aes128-gcm@openssh.com"),
        ("chacha20-poly1305", "chacha20-poly1305@openssh.com"),
        ("blowfish", "blowfish"),
        ("rijndael-cbc@lysator.liu.se", "rijndael-cbc@lysator.liu.se"),
    ),
)
def test_short_names_count_in_a_text_about_ssh(printed: str, name: str) -> None:
    assert rates(read(f"ssh to localhost\n{printed}: 100 MB/s")) == [(name, 100_000_000)]


@each(
    "name", ("serpent256-cbc", "twofish128-ctr", "camellia192-ctr@openssh.org", "rijndael256-cbc")
)
def test_ciphers_of_other_ssh_programs_are_known(name: str) -> None:
    assert rates(read(f"{name}: 9 MB/s")) == [(name, 9_000_000)]


@each("printed", ("chacha20-poly1305", "blowfish", "3des", "des"))
def test_names_that_others_use_too_do_not_count_alone(printed: str) -> None:
    assert rates(read(f"{printed}: 100 MB/s")) == []


@each(
    "line",
    (
        "aes1024-ctr: 100 MB/s",
        "AES-128-CBC 100 MB/s",
        "aes128-ctr is good for 100 MB/s here",
        "about 100 MB/s with aes128-ctr, or 90 MB/s with aes256-ctr",
        "aes128-ctr 5 MB took 1.2 seconds, 4.1 MB/s",
        "twofish-cbc        128b       192.7 MiB/s       210.9 MiB/s",
        "aes128-ctr: 100",
        "aes128-ctr: 100-110-120 MB/s",
        "PCI bus 132 MB/s",
        "132 MB/s",
    ),
)
def test_a_line_that_is_no_list_is_not_understood(line: str) -> None:
    part = read(line)
    assert figures(part) == []
    assert part.understood == frozenset()


@each(
    ("rate", "code"),
    (
        ("0 MB/s", "zero_rate"),
        ("0.00 MB/s", "zero_rate"),
        ("-3 MB/s", "not_a_rate"),
        ("inf MB/s", "not_a_rate"),
        ("-nan MB/s", "not_a_rate"),
    ),
)
def test_what_is_no_rate_is_a_remark(rate: str, code: str) -> None:
    part = read(f"aes128-ctr: {rate}")
    assert figures(part) == []
    assert codes(part) == [code]
    assert part.understood == {1}


def test_a_rate_that_no_ssh_reaches_is_kept_as_implausible() -> None:
    (figure,) = figures(read("aes128-ctr: 30000 MB/s"))
    assert figure.implausible


@each(
    "line",
    (
        "arcfour: Unknown cipher type 'arcfour'",
        "arcfour: n/a",
        "arcfour128: refused",
        "arcfour256 -",
    ),
)
def test_a_cipher_without_a_result_is_understood_and_no_figure(line: str) -> None:
    part = read(f"aes128-ctr: 100 MB/s\n{line}\n")
    assert rates(part) == [("aes128-ctr", 100_000_000)]
    assert part.understood == {1, 2}


def test_a_list_cut_in_mid_number_loses_only_that_number() -> None:
    part = read("aes128-ctr: 104.1 MB/s\naes256-ctr: 90.")
    assert rates(part) == [("aes128-ctr", 104_100_000)]
    assert "damaged" in codes(part)


def test_several_close_rates_on_a_line_are_tries() -> None:
    part = read("aes128-ctr: 104 MB/s 103 MB/s 105 MB/s\naes256-ctr: 94 93 95 MB/s")
    assert [rate // 10**6 for _, rate in rates(part)] == [104, 103, 105, 94, 93, 95]


def test_several_rates_of_which_nothing_says_what_they_are_give_no_figure() -> None:
    assert refused("aes128-ctr: 10 MB/s 200 MB/s") == ["columns_unclear"]


def test_a_list_that_lost_its_line_breaks_is_read() -> None:
    part = read("Some results: 3des-cbc: 21.1 MB/s aes128-ctr: 80 MB/s arcfour: 208.3 MB/s")
    assert rates(part) == [
        ("3des-cbc", 21_100_000),
        ("aes128-ctr", 80_000_000),
        ("arcfour", 208_300_000),
    ]


@each(
    ("words", "masked", "compressed"),
    (("Masked", True, False), ("With compression", False, True), ("Some results", False, False)),
)
def test_words_before_such_a_list_are_its_heading(
    words: str, masked: bool, compressed: bool
) -> None:
    part = read(f"{words}: 3des-cbc: 21.1 MB/s aes128-ctr: 80 MB/s arcfour: 208.3 MB/s")
    said = {(one.acceleration == "masked", one.compression) for one in figures(part)}
    assert said == {(masked, compressed)}


@each("line", ("aes128-ctr / hmac-md5: 90 MB/s", "aes128-ctr hmac-md5 90 MB/s"))
def test_a_mac_beside_the_cipher_is_kept(line: str) -> None:
    (figure,) = figures(read(line))
    assert (figure.cipher, figure.mac) == ("aes128-ctr", "hmac-md5")


def test_short_names_of_private_macs_get_their_domain() -> None:
    (figure,) = figures(read("aes128-ctr+umac-64: 90 MB/s"))
    assert figure.mac == "umac-64@openssh.com"


@each("rate", (">100 MB/s", "> 100 MB/s", "<20 MB/s", "≥ 100 MB/s", "<=20MB/s"))
def test_a_bound_is_no_figure(rate: str) -> None:
    part = read(f"3des-cbc: {rate}")
    assert figures(part) == []
    assert codes(part) == ["not_a_rate"]
    assert part.understood == {1}


@each("arrow", ("=>", "->", "-->", "→", "==>", ">>"))
def test_an_arrow_before_a_rate_is_no_bound(arrow: str) -> None:
    assert rates(read(f"3des-cbc {arrow} 20 MB/s")) == [("3des-cbc", 20_000_000)]
    assert rates(read(f"3des-cbc{arrow}20 MB/s")) == [("3des-cbc", 20_000_000)]


@each(
    "rest",
    (
        "20 -> 25 MB/s",
        "20 → 25 MB/s",
        "20 MB/s => 25 MB/s",
        "50 MB/s / 62 MB/s",
        "50 / 62 MB/s",
        "50 MB/s (before) 62 MB/s (after)",
        "50 MB/s -> 62 MB/s",
    ),
)
def test_before_and_after_are_no_tries(rest: str) -> None:
    assert refused(f"3des-cbc: {rest}") == ["columns_unclear"]


def test_a_key_size_without_its_title_is_no_try() -> None:
    assert refused("aes128-ctr 128 80.5 MB/s") == ["columns_unclear"]


@each("printed", ("5e400 B/s", "1e308 GB/s", "9e999 MB/s"))
def test_a_number_too_large_for_any_machine_is_no_rate(printed: str) -> None:
    assert refused(f"ssh\narcfour: {printed}") == ["not_a_rate"]


@each(
    "row",
    (
        "aes256-ctr 70.5 MB/s 45% CPU",
        "aes256-ctr: 70.5 MB/s, CPU 45 %",
        "aes256-ctr 45% cpu 70.5 MB/s",
        "aes256-ctr 70.5 MB/s (45% CPU)",
        "aes256-ctr: 70.5 MB/s at 45% CPU load",
    ),
)
def test_a_share_of_the_cpu_beside_a_rate_is_none_of_its_own(row: str) -> None:
    part = read(f"{row}\naes128-ctr 80 MB/s 40% CPU\n")
    assert rates(part) == [("aes256-ctr", 70_500_000), ("aes128-ctr", 80_000_000)]
    assert len(part.sections) == 1


@each("amount", ("1024MB", "1024 MB", "1 GiB", "1.5GB", "1073741824 bytes"))
def test_an_amount_beside_a_rate_is_no_rate(amount: str) -> None:
    assert rates(read(f"aes128-ctr {amount} 97.5MB/s")) == [("aes128-ctr", 97_500_000)]
    assert rates(read(f"aes128-ctr 97.5 MB/s {amount}")) == [("aes128-ctr", 97_500_000)]


def test_an_amount_alone_is_no_rate() -> None:
    part = read("aes128-ctr: 104 MB")
    assert (figures(part), part.understood) == ([], frozenset())


def test_a_line_of_hundreds_of_numbers_is_no_row() -> None:
    assert figures(read("aes128-ctr: " + "104 MB/s " * 300)) == []


def test_a_table_of_html_on_one_line_is_read_row_by_row() -> None:
    rows = (("Cipher", "MB/s"), ("aes128-ctr", "98.1"), ("3des-cbc", "12.5"), ("and so on", "?"))
    cells = "".join(f"<tr><td>{name}</td><td>{rate}</td></tr>" for name, rate in rows)
    part = read(f"<table>{cells}</table>\n")
    assert rates(part) == [("aes128-ctr", 98_100_000), ("3des-cbc", 12_500_000)]
    assert part.understood == frozenset()


@each(("unit", "factor"), (("МБ/с", 10**6), ("Мбит/с", 125_000), ("ГБ/сек", 10**9), ("кБ/с", 1000)))
def test_units_in_cyrillic_letters_are_units(unit: str, factor: int) -> None:
    assert rates(read(f"aes128-ctr: 41,5 {unit}\n")) == [("aes128-ctr", 41.5 * factor)]


@pytest.mark.parametrize(
    ("module", "limit", "most"),
    (
        (text_module, "MOST_READ", 45),
        (reading_state, "MOST_FOUND", 2),
        (reading_state, "MOST_PLACES", 1),
    ),
)
def test_what_is_more_than_any_text_has_is_listed_and_said(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, limit: str, most: int
) -> None:
    monkeypatch.setattr(module, limit, most)
    part = read("aes128-ctr: 104.1 MB/s\naes256-ctr: 98.2 MB/s\n3des-cbc: 24.3 MB/s\n")
    assert len(figures(part)) == (0 if limit == "MOST_PLACES" else 2)
    assert 3 not in part.understood
    assert codes(part) == ["too_many"]


@each(
    "line",
    (
        "ssh -c aes128-ctr  118 MB/s",
        "ssh -C -c aes128-ctr  118 MB/s",
        '{"cipher": "aes128-ctr", "mac": "umac-128-etm@openssh.com", "mb_per_s": 187.22}',
    ),
)
def test_a_rate_that_is_not_read_is_listed(line: str) -> None:
    assert [one.text for one in read_text(f"x\n{line}\n").unrecognised] == ["x", line]
