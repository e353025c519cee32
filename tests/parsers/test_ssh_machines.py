"""Tables with a machine a row, and ranges: a figure stands where it belongs, or is none."""

from tests.cases import each
from tests.parsers.ssh_reading import codes, figures, rates, read

EXPECTED = {
    "nas": [("aes128-ctr", 98_100_000), ("aes256-ctr", 80_200_000), ("3des-cbc", 12_300_000)],
    "big box": [("aes128-ctr", 498_100_000), ("aes256-ctr", 430_200_000), ("3des-cbc", 24_300_000)],
}
BARS = (
    "| {corner} | aes128-ctr | aes256-ctr | 3des-cbc |\n|---|---:|---:|---:|\n"
    "| nas | 98.1{u} | 80.2{u} | 12.3{u} |\n| big box | 498.1{u} | 430.2{u} | 24.3{u} |\n"
)
SPACES = (
    "{corner}         aes128-ctr  aes256-ctr  3des-cbc\n"
    "nas          98.1{u}  80.2{u}   12.3{u}\nbig box      498.1{u}  430.2{u}  24.3{u}\n"
)
TABS = "{corner}\taes128-ctr\taes256-ctr\t3des-cbc\nnas\t98.1{u}\t80.2{u}\t12.3{u}\n" + (
    "big box\t498.1{u}\t430.2{u}\t24.3{u}\n"
)
CSV = "{corner},aes128-ctr,aes256-ctr,3des-cbc\nnas,98.1{u},80.2{u},12.3{u}\n" + (
    "big box,498.1{u},430.2{u},24.3{u}\n"
)


@each("corner", ("machine", "", "          ", "Host", "CPU model"))
@each("table", (BARS, SPACES, TABS, CSV))
@each("unit", (" MB/s", ""))
def test_each_cell_stands_under_its_machine_and_cipher(corner: str, table: str, unit: str) -> None:
    above = "" if unit else "All in MB/s:\n"
    part = read(above + table.format(corner=corner, u=unit))
    found = {
        one.label: [(figure.cipher, figure.bytes_per_second) for figure in one.figures]
        for one in part.sections
    }
    assert found in (EXPECTED, {})
    assert found or not corner.strip()


@each(
    "row",
    (
        "| nas | 98 MB/s | 80 MB/s |",
        "| 2620 | 98 MB/s | 80 MB/s |",
        "| nas | 98 MB/s | see below, 80 MB/s | 12 MB/s |",
        "| Pi 4: 98 MB/s | 80 MB/s | 12 MB/s |",
        "| nas | 98 MB/s | 80 MB/s | 12 MB/s | 11 MB/s |",
        "| average | 98 MB/s | 80 MB/s | 12 MB/s |",
        "| max | 98 MB/s | 80 MB/s | 12 MB/s |",
    ),
)
def test_a_row_that_does_not_fill_the_table_gives_no_figure(row: str) -> None:
    table = "| machine | aes128-ctr | aes256-ctr | 3des-cbc |\n|---|---|---|---|\n"
    assert figures(read(f"{table}{row}\n")) == []


def test_a_missing_cell_moves_no_other() -> None:
    part = read("| host | aes128-ctr | 3des-cbc |\n|---|---|---|\n| nas | - | 12 MB/s |\n")
    assert rates(part) == [("3des-cbc", 12_000_000)]


def test_rows_that_are_tries_are_of_one_machine() -> None:
    part = read("| run | aes128-ctr | 3des-cbc |\n|---|---|---|\n| 1 | 98 MB/s | 12 MB/s |\n")
    assert [section.label for section in part.sections] == [None]


@each(
    "said",
    (
        "350 - 360 MB/s",
        "350-360 MB/s",
        "480–498 MB/s",
        "480 — 498 MB/s",
        "24 to 26 MB/s",
        "24 bis 26 MB/s",
        "110MB/s - 120MB/s",
        "110 MB/s to 120 MB/s",
        "110..120 MiB/s",
        "80~90 MB/s",
        "35,5-36,5 MB/s",
    ),
)
@each("before", ("aes128-ctr: ", "aes128-ctr   ", "| aes128-ctr | "))
def test_a_range_is_one_remark_and_no_figure(before: str, said: str) -> None:
    part = read(f"{before}{said}\n")
    assert figures(part) == []
    assert [remark.code for remark in part.remarks] == ["not_a_rate"]


def test_a_range_in_a_table_is_no_figure() -> None:
    part = read("| cipher | MB/s |\n|---|---|\n| aes128-ctr | 104-108 |\n| 3des-cbc | 24 |\n")
    assert rates(part) == [("3des-cbc", 24_000_000)]
    assert codes(part) == ["not_a_rate"]


@each("line", ("aes128-ctr - 104 MB/s", "aes128-ctr: 104 +/- 2 MB/s"))
def test_a_dash_alone_makes_no_range(line: str) -> None:
    assert rates(read(line)) == [("aes128-ctr", 104_000_000)]


@each(
    "head",
    (
        "[{number}] 10:22:33 [SUCCESS] web0{number}",
        "[{number}] 10:22:33 [SUCCESS] root@web0{number}",
        "[{number}] 10:22:33 [FAILURE] web0{number} Exited with error code 1",
        "web0{number} | CHANGED | rc=0 >>",
        "web0{number} | FAILED! | rc=2 >>",
    ),
)
@each("second", ("aes128-ctr", "aes256-ctr"))
def test_what_machines_answered_to_a_tool_for_many_is_theirs(head: str, second: str) -> None:
    first = [head.format(number=1), "aes128-ctr: 100 MB/s", "3des-cbc: 20 MB/s"]
    part = read("\n".join([*first, head.format(number=2), f"{second}: 200 MB/s"]))
    assert [(one.host, len(one.figures)) for one in part.sections] == [("web01", 2), ("web02", 1)]


def test_answers_that_follow_other_figures_are_not_their_machines() -> None:
    part = read("aes128-ctr: 90 MB/s\n[1] 10:22:33 [SUCCESS] web01\naes128-ctr: 100 MB/s\n")
    assert [one.host for one in part.sections] == [None, "web01"]


@each(
    "lines",
    (
        ("web01: aes128-ctr: 123 MB/s", "web02: aes128-ctr: 125 MB/s"),
        ("aes128-ctr", "web01: 123 MB/s", "web02: 125 MB/s"),
        ("web01: aes128-ctr", "web01: 1048576000 bytes copied, 2.5 s, 419 MB/s",
         "web02: aes128-ctr", "web02: 1048576000 bytes copied, 3.5 s, 300 MB/s"),
    ),
)  # fmt: skip
def test_lines_that_begin_with_a_machine_are_listed(lines: tuple[str, ...]) -> None:
    part = read("\n".join(lines))
    assert figures(part) == []
    assert len(lines) not in part.understood
