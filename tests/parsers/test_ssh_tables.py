"""Tables of rates: what a column's title makes of its numbers."""

from tests.cases import each
from tests.parsers.ssh_reading import figures, rates, read, refused


def test_the_unit_may_stand_in_the_title() -> None:
    part = read("| Cipher | MB/s | CPU |\n|---|---|---|\n| aes128-ctr | 104.1 | 50% |\n")
    assert rates(part) == [("aes128-ctr", 104_100_000)]
    assert part.understood == {1, 2, 3}


def test_the_unit_may_stand_above_the_table() -> None:
    part = read("Throughput in MiB/s\nCipher      Speed\naes128-ctr  100\n")
    assert rates(part) == [("aes128-ctr", 104_857_600)]


def test_columns_of_tries_are_tries_and_their_average_is_none() -> None:
    part = read("cipher      try 1  try 2  avg (MB/s)\naes128-ctr  104.1  103.1  103.6\n")
    assert rates(part) == [("aes128-ctr", 104_100_000), ("aes128-ctr", 103_100_000)]


def test_an_average_alone_is_the_figure() -> None:
    part = read("cipher,min,avg,max\naes128-ctr,101.5 MB/s,103.6 MB/s,104.1 MB/s\n")
    assert rates(part) == [("aes128-ctr", 103_600_000)]


@each("notes", (("quiet", "busy"), ("kernel 5.4", "kernel 6.1")))
def test_notes_that_tell_rows_apart_make_them_no_tries(notes: tuple[str, str]) -> None:
    title, alike = "| Cipher | MB/s | Note |\n", "| aes128-ctr | 100 | {} |\n"
    assert refused(title + "".join(map(alike.format, notes))) == ["context_unclear"]
    assert len(rates(read(title + 2 * alike.format(notes[0])))) == 2


def test_columns_of_macs_give_the_mac() -> None:
    part = read("cipher | hmac-md5 | hmac-sha1 (MB/s)\n---|---|---\naes128-ctr | 104 | 90\n")
    assert [(one.cipher, one.mac) for one in figures(part)] == [
        ("aes128-ctr", "hmac-md5"),
        ("aes128-ctr", "hmac-sha1"),
    ]


def test_a_column_of_macs_gives_the_mac() -> None:
    head = "| Cipher | MAC | MB/s |\n|---|---|---|\n"
    table = head + "| aes128-ctr | hmac-md5 | 104 |\n| | hmac-sha1 | 90 |\n"
    assert [(one.cipher, one.mac) for one in figures(read(table))] == [
        ("aes128-ctr", "hmac-md5"),
        ("aes128-ctr", "hmac-sha1"),
    ]


def test_columns_of_ciphers_are_read_downwards() -> None:
    part = read(
        "        aes128-ctr  aes256-ctr  (MB/s)\ntry 1   100.1  90.2\ntry 2   101.1  91.2\n"
    )
    assert rates(part) == [
        ("aes128-ctr", 100_100_000),
        ("aes256-ctr", 90_200_000),
        ("aes128-ctr", 101_100_000),
        ("aes256-ctr", 91_200_000),
    ]


def test_columns_of_machines_are_sections() -> None:
    part = read("cipher;attic;cellar\naes128-ctr;10,5 MB/s;100,2 MB/s\n")
    assert [section.label for section in part.sections] == ["attic", "cellar"]
    assert rates(part) == [("aes128-ctr", 10_500_000), ("aes128-ctr", 100_200_000)]


def test_key_sizes_and_times_are_no_rates() -> None:
    part = read(
        "Cipher | Key | Time | Speed\n---|---|---|---\naes128-ctr | 128 | 10.2 s | 104 MB/s\n"
    )
    assert rates(part) == [("aes128-ctr", 104_000_000)]


def test_a_row_that_does_not_fit_its_titles_is_left_out() -> None:
    assert refused("cipher      try 1  try 2 (MB/s)\naes128-ctr  104.1\n") == ["damaged"]


def test_an_empty_cell_is_no_figure() -> None:
    part = read("cipher | hmac-md5 | hmac-sha1 (MB/s)\n---|---|---\naes128-ctr |  | 90 |\n")
    assert [one.mac for one in figures(part)] == ["hmac-sha1"]


@each(
    ("titles", "row", "rate"),
    (
        ("cipher bits MB/s", "128 80.5", 80_500_000),
        ("cipher seconds MB/s", "101 99.5", 99_500_000),
        ("cipher MB/s CPU", "80.5 75", 80_500_000),
        ("cipher min avg max (MB/s)", "70.0 75.0 80.5", 75_000_000),
        ("Cipher time (s) speed (MB/s)", "101 99.5", 99_500_000),
        ("cipher bits  MB/s", "128  80.5", 80_500_000),
        ("cipher key size MB/s", "128 80.5", 80_500_000),
        ("Cipher speed in MB/s", "80.5", 80_500_000),
    ),
)
def test_titles_set_apart_by_one_space_are_columns(titles: str, row: str, rate: int) -> None:
    assert rates(read(f"{titles}\naes128-ctr {row}\n")) == [("aes128-ctr", rate)]


def test_tries_set_apart_by_one_space_are_tries() -> None:
    part = read("cipher try 1 try 2 (MB/s)\naes128-ctr 104.1 103.1\n")
    assert rates(part) == [("aes128-ctr", 104_100_000), ("aes128-ctr", 103_100_000)]


@each(
    "titles",
    (
        "cipher speed in MB/s and bits",
        "cipher bits MB/s CPU",
        "cipher attic cellar (MB/s)",
        "MB/s and bits",
        "Speed (MB/s) and seconds:",
        "cipher speed in MB/s",
        "cipher MB/s",
    ),
)
def test_titles_that_do_not_fit_the_numbers_leave_them_unclear(titles: str) -> None:
    assert refused(f"{titles}\naes128-ctr 104 99.5\n") == ["columns_unclear"]


def test_a_caption_of_the_unit_alone_leaves_tries_tries() -> None:
    assert len(figures(read("Throughput in MB/s:\naes128-ctr 104 103 105\n"))) == 3


@each(
    "text",
    (
        "cipher,time,MB/s\naes128-ctr,10.5,97.5\n",
        'cipher,time,MB/s\n"aes128-ctr","10,5","97.5"\n',
        "cipher,time,MB/s\naes128-ctr,,97.5\n",
        "cipher;time;MB/s\naes128-ctr;10,5;97,5\n",
        "cipher;time;MB/s\naes128-ctr;;97,5\n",
        "time,cipher,MB/s\n10.5,aes128-ctr,97.5\n",
    ),
)
def test_rows_between_commas_are_read_by_their_titles(text: str) -> None:
    assert rates(read(text)) == [("aes128-ctr", 97_500_000)]


def test_a_comma_too_many_makes_a_row_unclear() -> None:
    part = read("cipher,time,MB/s\naes128-ctr,10,5,97,5\n")
    assert figures(part) == []


@each("titles", ("Monday;Tuesday", "first day;second day"))
def test_columns_of_days_are_tries_of_one_machine(titles: str) -> None:
    part = read(f"cipher;{titles} (MB/s)\naes128-ctr;100,5;101,5\n")
    assert [section.label for section in part.sections] == [None]
    assert len(figures(part)) == 2
