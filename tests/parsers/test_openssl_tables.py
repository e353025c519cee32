"""Tables of `openssl speed` that were retyped: between bars, in other units."""

from parsers.types import Part
from tests.cases import each
from tests.parsers.openssl_texts import (
    CLASSIC,
    codes,
    doing,
    figures,
    header,
    rates,
    read,
    rising,
    row,
)

LEFT, RIGHT = rising(50_000_000), rising(90_000_000)


def placed(part: Part) -> list[tuple[int | None, float | None]]:
    """Block size and rate of all figures."""
    return [(figure.block_size, figure.bytes_per_second) for figure in figures(part)]


def barred(*cells: str) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


TITLES = barred("type", *(f"{block} bytes" for block in CLASSIC))
RULER = "|---|--:|--:|--:|--:|--:|"


@each("blank", ("", "-", "—", "n/a"))
def test_an_empty_cell_keeps_its_column(blank: str) -> None:
    part = read(TITLES, RULER, barred("rc4", "100.00k", blank, "300.00k", "400.00k", "500.00k"))
    assert placed(part) == [(16, 1e5), (256, 3e5), (1024, 4e5), (8192, 5e5)]
    assert part.understood == {1, 2, 3}


def test_an_empty_cell_at_either_end_keeps_its_column() -> None:
    first = read(TITLES, RULER, barred("rc4", "", "200.00k", "300.00k", "400.00k", "500.00k"))
    assert [block for block, _ in placed(first)] == [64, 256, 1024, 8192]
    last = read(TITLES, RULER, barred("rc4", "100.00k", "200.00k", "300.00k", "400.00k", ""))
    assert [block for block, _ in placed(last)] == [16, 64, 256, 1024]


def test_bars_of_a_terminal_are_bars_too() -> None:
    part = read("│ type │ 16 bytes │ 64 bytes │", "│ rc4 │ │ 200.00k │")
    assert placed(part) == [(64, 2e5)]


def test_cells_of_a_web_table_are_read_one_by_one() -> None:
    titles = "".join(f"<th>{block} bytes</th>" for block in CLASSIC)
    cells = "<td>100.00k</td><td></td><td>300.00k</td><td>400.00k</td><td>500.00k</td>"
    part = read(f"<tr><th>type</th>{titles}</tr>", f"<tr><td>rc4</td>{cells}</tr>")
    assert [block for block, _ in placed(part)] == [16, 256, 1024, 8192]


def test_a_column_whose_title_is_no_size_has_no_figures() -> None:
    part = read(
        barred("Cipher", "16 bytes", "remark", "64 bytes"),
        barred("rc4", "100.00k", "150.00k", "200.00k"),
    )
    assert placed(part) == [(16, 1e5), (64, 2e5)]
    assert codes(part) == ["damaged"]


def test_a_row_with_more_cells_than_titles_is_left_out() -> None:
    part = read(TITLES, RULER, barred("rc4", *(f"{one}.00k" for one in range(100, 700, 100))))
    assert figures(part) == []
    assert codes(part) == ["damaged"]


def test_bars_around_whole_rows_change_nothing() -> None:
    part = read(f"| {header()} |", f"| {row('rc4', LEFT)} |", f"| rc5-cbc | {row('', RIGHT)} |")
    assert rates(part) == LEFT + RIGHT


def test_a_figure_left_out_of_an_aligned_row_leaves_its_column_empty() -> None:
    whole = row("rc4", LEFT)
    at = whole.index("52000.00k")
    part = read(header(), whole[:at] + " " * 9 + whole[at + 9 :])
    assert [block for block, _ in placed(part)] == [16, 64, 1024, 8192, 16384]


@each(
    "line",
    (
        row("rc4", LEFT[:3]) + " | " + row("", RIGHT[:3]),
        row("rc4", LEFT[:3]) + " | " + row("rc4", RIGHT[:3]),
        row("rc4", LEFT[:3]) + "   " + row("rc4", RIGHT[:3]),
        row("rc4", LEFT) + "   " + row("", RIGHT),
        row("rc4", LEFT) + " | " + row("", RIGHT),
        row("rc4", LEFT) + " | " + row("rc4", RIGHT),
        row("rc4", LEFT) + "   " + row("aes-128 cbc", RIGHT),
    ),
)
def test_tables_side_by_side_are_left_out(line: str) -> None:
    part = read(header(), line)
    assert figures(part) == []
    assert set(codes(part)) == {"damaged"} or 2 not in part.understood


def test_a_note_behind_a_bar_is_no_table() -> None:
    part = read(header(), row("rc4", LEFT) + " | the fast one")
    assert rates(part) == LEFT


@each("blocks", ((16, 64, 16, 256), (64, 16), (16, 16, 64), (16, 64, 64)))
def test_rows_below_sizes_that_do_not_rise_are_left_out(blocks: tuple[int, ...]) -> None:
    part = read(header(blocks), row("rc4", rising(50_000_000, len(blocks))))
    assert figures(part) == []
    assert set(codes(part)) == {"damaged"}


def test_a_header_with_words_behind_it_is_read_and_listed() -> None:
    part = read(header() + " and my comment 42", row("rc4", LEFT))
    assert rates(part) == LEFT
    assert part.understood == {2}


def test_below_sizes_that_are_no_header_none_are_assumed() -> None:
    sizes = "Algorithm (MiB): 64 bytes 256 bytes 1024 bytes 8192 bytes 16384 bytes"
    assert figures(read(sizes, row("rc4", LEFT[:5]))) == []


def test_ratios_are_no_rates() -> None:
    ratios = "rc4 1.10 1.05 1.03 1.02 1.01"
    for below in ((), (row("rc4", LEFT[:5]),), (row("aes-128-cbc", LEFT[:5]),)):
        part = read(header(CLASSIC), *below, ratios)
        assert rates(part) == LEFT[: 5 * len(below)]
        assert codes(part) == ["not_a_rate"]


@each("values", ("100.00 200.00 300.00 400.00 500.00", "9.10 9.30 9.40 9.5 9.6"))
def test_a_table_without_any_k_is_none_of_bytes(values: str) -> None:
    part = read("All in MB/s", header(CLASSIC), f"rc4 {values}", f"aes-128-cbc {values}")
    assert figures(part) == []
    assert "not_a_rate" in codes(part)


def test_a_figure_that_lost_its_k_amid_a_row_is_none() -> None:
    part = read(header(CLASSIC), "rc4 50000.00k 510.00 52000.00k 53000.00k 54000.00k")
    assert [block for block, _ in placed(part)] == [16, 256, 1024, 8192]
    assert codes(part) == ["not_a_rate"]


def test_a_slow_row_is_believed_where_its_counts_say_the_same() -> None:
    part = read(doing("rc4", 16, 900), header((16,)), row("rc4", [4_800.0]))
    assert rates(part) == [4_800.0]


@each("printed", ("703274,51k", "703.274,51k", "703,274.51k", "703274.51k"))
def test_decimals_may_stand_behind_a_comma(printed: str) -> None:
    assert rates(read(header((16,)), f"rc4   {printed}")) == [703_274_510.0]


@each("label", ("aes-128-cbc (decrypt)", "AES-128-CBC decryption",
                                   "aes-128 cbc (dec)", "aes-128-cbc-decrypt"))  # fmt: skip
def test_a_label_may_say_that_it_is_decryption(label: str) -> None:
    (figure,) = figures(read(header((16,)), f"{label}   703274.51k"))
    assert (figure.cipher, figure.operation) == ("aes-128-cbc", "decrypt")


def test_a_label_that_says_encryption_counts_more_than_the_command() -> None:
    part = read(
        "$ openssl speed -decrypt -evp aes-128-cbc",
        header((16,)),
        "aes-128-cbc (encrypt)   703274.51k",
        "aes-128-cbc             803274.51k",
    )
    assert [figure.operation for figure in figures(part)] == ["encrypt", "decrypt"]


@each("mark", ("[1]", "*", "**", " **", "(2)", "[*]"))
def test_a_row_with_a_footnote_is_listed(mark: str) -> None:
    rows = (row("aes-128-cbc", rising(4e8)) + f" {mark}", row("aes-256-cbc", rising(3e8)))
    part = read(header(), *rows)
    assert {figure.cipher for figure in figures(part)} == {"aes-256-cbc"}
    assert codes(part) == ["damaged"]
    assert 2 not in part.understood


def test_a_figure_or_a_name_with_a_footnote_is_not_read() -> None:
    marked = row("aes-128-cbc", rising(4e8)).replace("401000.00k", "401000.00k**")
    named = row("aes-256-cbc", rising(3e8)).replace("aes-256-cbc", "aes-256-cbc**")
    part = read(header(), marked, named)
    assert len(figures(part)) == 5
    assert codes(part) == ["damaged", "no_cipher"]
