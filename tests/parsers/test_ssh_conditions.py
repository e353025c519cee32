"""Conditions of one machine (before and after, LAN and WLAN) are not machines of that name."""

import pytest

from tests.parsers.ssh_reading import codes, figures, rates, read, refused

CONDITIONS = (
    ("before", "after"),
    ("old", "new"),
    ("LAN", "WLAN"),
    ("with AES-NI", "without"),
    ("hardware", "software"),
    ("1 thread", "4 threads"),
    ("MTU 1500", "MTU 9000"),
)


@pytest.mark.parametrize(("first", "second"), CONDITIONS)
@pytest.mark.parametrize(
    "table",
    (
        "| Cipher | {} | {} |\n|---|---|---|\n| aes128-ctr | 100 MB/s | 200 MB/s |\n",
        "| Cipher | {} (MB/s) | {} (MB/s) |\n|---|---|---|\n| aes128-ctr | 100 | 200 |\n",
        "Cipher      {}      {}    (MB/s)\naes128-ctr  100  200\n",
    ),
)
def test_a_table_with_columns_of_conditions_is_not_read(
    table: str, first: str, second: str
) -> None:
    assert refused(table.format(first, second)) == ["columns_unclear"]


@pytest.mark.parametrize(("first", "second"), CONDITIONS)
def test_rows_of_conditions_are_not_read(first: str, second: str) -> None:
    title, rows = "| | aes128-ctr | aes256-ctr |\n|---|---|---|\n", "| {} | 90 MB/s | 80 MB/s |\n"
    assert figures(read(title + rows.format(first) + rows.format(second))) == []


@pytest.mark.parametrize(
    ("first", "second"), [one for one in CONDITIONS if "with AES-NI" not in one]
)
@pytest.mark.parametrize("heading", ("{}:", "== {} ==", "{}"))
def test_figures_below_headings_of_conditions_do_not_count(
    heading: str, first: str, second: str
) -> None:
    lines = [heading.format(first), "aes128-ctr: 40 MB/s", "", heading.format(second)]
    if heading == "{}" and " " in first:
        return  # several words without a mark are a line of prose
    part = read("\n".join([*lines, "aes128-ctr: 90 MB/s"]))
    assert figures(part) == []
    assert "context_unclear" in codes(part)


def test_hardware_that_is_said_to_be_missing_is_no_machine() -> None:
    part = read("With AES-NI:\naes128-ctr: 90 MB/s\nWithout AES-NI:\naes128-ctr: 40 MB/s\n")
    assert rates(part) == [("aes128-ctr", 90e6)]
    assert "context_unclear" in codes(part)


@pytest.mark.parametrize(
    ("first", "second"), (("web01", "web02"), ("10.0.0.1", "10.0.0.2"), ("old NAS", "new NAS"))
)
def test_machines_are_read_as_before(first: str, second: str) -> None:
    table = f"| Cipher | {first} | {second} |\n|---|---|---|\n| aes128-ctr | 9 MB/s | 8 MB/s |\n"
    headed = f"{first}:\naes128-ctr: 9 MB/s\n{second}:\naes128-ctr: 8 MB/s\n"
    for text in (table, headed):
        assert [one.label for one in read(text).sections] == [first, second]
