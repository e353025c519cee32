"""Texts that a reader may take for more than they say: no figure rather than a false one."""

import pytest

from tests.parsers.ssh_reading import codes, figures, rates, read


@pytest.mark.parametrize(
    "text",
    (
        "$ pv -F '%t %b %r' big | ssh -c aes128-ctr nas cat\n0:00:07  700MiB  100MB/s\n",
        "aes128-ctr\n00:14 100 MB/s\n",
        "aes128-ctr: 12:30:05 100 MB/s\n",
        "cipher      time  MB/s\naes128-ctr  0:09  100\n",
    ),
)
def test_a_time_of_day_is_no_rate(text: str) -> None:
    assert rates(read(text)) == [("aes128-ctr", 100_000_000)]


@pytest.mark.parametrize("line", ("1024 MB 12.5 70 MB/s", "1 056 MB/s", "8 7.2 MB/s"))
@pytest.mark.parametrize("name", ("aes128-ctr\n", "aes128-ctr: "))
def test_a_bare_number_beside_a_rate_is_no_try(name: str, line: str) -> None:
    part = read(name + line)
    assert figures(part) == []
    assert codes(part) == ["columns_unclear"]


@pytest.mark.parametrize(
    "text",
    (
        "host,cipher,MB/s\nnas,aes128-ctr,100\npi,aes128-ctr,50\n",
        "cipher;machine;rate\naes128-ctr;nas;100 MB/s\naes128-ctr;pi;50 MB/s\n",
        "cipher,cpu,MB/s\naes128-ctr,nas,100\naes128-ctr,pi,50\n",
        "cipher,nas MB/s,pi MB/s\naes128-ctr,100,50\n",
    ),
)
def test_each_machine_of_a_table_has_its_own_figures(text: str) -> None:
    sections = read(text).sections
    assert [section.label for section in sections] == ["nas", "pi"]
    assert [len(section.figures) for section in sections] == [1, 1]


@pytest.mark.parametrize("empty", ("", "-", "n/a"))
def test_a_machine_without_a_rate_does_not_take_the_name_of_the_other(empty: str) -> None:
    part = read(f"MB/s\n\n| cipher | nas | pi |\n|---|---|---|\n| 3des-cbc | {empty} | 9 |\n")
    assert [section.label for section in part.sections] == ["pi"]


@pytest.mark.parametrize(
    "table",
    (
        "cipher,compression,MB/s\naes128-ctr,no,100\naes128-ctr,yes,30\n",
        "cipher;compr;rate\naes128-ctr;none;100 MB/s\naes128-ctr;zlib;30 MB/s\n",
        "| Cipher | Compression | MB/s |\n|---|---|---|\n| aes128-ctr | on | 30 |\n",
        "tool,cipher,MB/s\nscp,aes128-ctr,90\niperf,aes128-ctr,110\n",
        "cipher,direction,MB/s\naes128-ctr,encrypt,100\naes128-ctr,decrypt,90\n",
        "cipher      upload    download\naes128-ctr  80 MB/s   90 MB/s\n",
        "| Cipher | Read MB/s | Write MB/s |\n|---|---|---|\n| aes128-ctr | 40 | 30 |\n",
        "openssh;cipher;MB/s\n8.4;aes128-ctr;100\n9.2;aes128-ctr;110\n",
    ),
)
def test_a_table_with_a_column_that_is_not_understood_gives_no_figures(table: str) -> None:
    part = read(table)
    assert figures(part) == []
    assert codes(part) == ["columns_unclear"]


def test_a_cell_of_other_words_spoils_the_rows_above_it_too() -> None:
    part = read("cipher,size,MB/s\naes128-ctr,1,100\naes128-ctr,over the VPN,30\n")
    assert figures(part) == []
    assert codes(part) == ["columns_unclear"]


def test_columns_of_tries_may_each_state_the_unit() -> None:
    part = read("cipher,run 1 MB/s,run 2 MB/s\naes128-ctr,100,101\n")
    assert [section.label for section in part.sections] == [None]
    assert len(figures(part)) == 2


DD = "{0}+0 records in\n{0}+0 records out\n{1} bytes copied, {2} s, {3} MB/s\n"
SO_FAR, END = DD.format(200, 209715200, 2, 105), DD.format(900, 943718400, 9, 105)


@pytest.mark.parametrize(
    "text",
    (
        f"aes128-ctr\n{SO_FAR}{END}",
        f"$ dd if=/dev/zero | ssh -c aes128-ctr nas cat &\n$ killall -USR1 dd\n{SO_FAR}{END}",
        "mac% dd if=/dev/zero | ssh -c aes128-ctr nas cat\n"
        f"load: 1.02  cmd: dd 77 running 0.01u 0.20s\n{SO_FAR}{END}",
    ),
)
def test_what_dd_says_on_its_way_is_no_figure_of_its_own(text: str) -> None:
    assert [figure.seconds for figure in figures(read(text))] == [9]
