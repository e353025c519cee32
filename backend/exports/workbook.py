"""The workbook of an export, all but the rows of its measurements (`exports.sheet_parts`)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.workbook import Workbook
from xlsxwriter.worksheet import Worksheet

from analysis.comparison import Comparison
from exports.columns import Column, StoredColumn
from exports.comparison_columns import comparison_rows, sheet_columns, values_of
from exports.csv_dialect import for_cell, for_writer
from exports.excel_chart import PAGE_ROWS, Charted, add_charts
from exports.export_request import ExportRequest
from exports.method_sheet import method_lines
from exports.palette import cipher_order

SHEET_COLUMNS = 16_384
SHEET_ROWS = 1_048_576
"""Rows of a worksheet, its header among them; what is more goes on in the next sheet."""

NUMBER_FORMATS = {
    "B/s": "#,##0",
    "MB/s": "[>=1000]#,##0;[>=100]0.0;0.00",
    "fraction": "0.0%",
    "bytes": "#,##0",
}
"""The cells have the whole number; of MB/s four digits are shown."""
FROZEN_COLUMNS = 2
METHOD_WIDTH = 90
LINE_POINTS = 15
HIGHEST_POINTS = 409
"""Of a row."""

MOST_BREAKS = 1_000
"""Of pages that Excel lets a sheet have by hand, 1,026 less some."""

PORTRAIT_WIDTH = 90
LANDSCAPE_WIDTH = 200
"""Characters across a page of A4 that can still be read."""

OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": True,
    "remove_timezone": True,
}


@dataclass(frozen=True)
class Pivot:
    """Hosts by ciphers: of each the figure that votes, None where there is none.

    A line has `PIVOT_TEXTS`, then a value for each of `ciphers`; a host has one in each group.
    """

    unit: str
    ciphers: tuple[str, ...]
    lines: Sequence[Sequence[Any]]


PIVOT_FACTS = ("cpu", "os_version", "openssl")
PIVOT_TEXTS = ("host", "group", *PIVOT_FACTS)


@dataclass(frozen=True)
class Contents:
    """What goes into a workbook; `count` is the number of rows of measurements.

    `comparison` has the groups of the table in their order; `charted` is None without any. `most`
    is as of `Table`.
    """

    asked: ExportRequest
    comparison: Comparison | None
    charted: Charted | None
    pivot: Pivot | None
    host_columns: tuple[StoredColumn, ...]
    hosts: Sequence[Sequence[Any]]
    columns: tuple[StoredColumn, ...]
    count: int
    most: int | None = None


@dataclass(frozen=True)
class Table:
    """Rows under one header, on as many sheets as they need.

    `lines` are the values of the rows, None where the database writes these itself. `most` rows
    are on a sheet, None: as many as one can have.
    """

    name: str
    columns: Sequence[Column]
    count: int
    lines: Iterable[Iterable[Any]] | None
    most: int | None = None

    @property
    def sheets(self) -> tuple[tuple[str, int], ...]:
        """The name of each sheet, and the number of its rows."""
        most = self.most or SHEET_ROWS - 1
        parts = range(max(1, -(-self.count // most)))
        return tuple(
            (f"{self.name} {part + 1}" if part else self.name, min(most, self.count - part * most))
            for part in parts
        )


def tables(contents: Contents) -> list[Table]:
    """The tables of a workbook in the order of their sheets."""
    found = []
    if contents.comparison is not None:
        found.append(_comparison(contents.asked, contents.comparison))
    if contents.pivot is not None:
        found += _pivots(contents.pivot)
    found.append(Table("Measurements", contents.columns, contents.count, None))
    found.append(Table("Hosts", contents.host_columns, len(contents.hosts), contents.hosts))
    return [replace(table, most=contents.most) for table in found]


def _comparison(asked: ExportRequest, comparison: Comparison) -> Table:
    columns = sheet_columns(comparison)
    lines = (values_of(row, columns) for row in comparison_rows(asked, comparison))
    count = sum(len(group.values) for group in comparison.groups)
    return Table("Comparison", columns, count, lines)


def _pivots(pivot: Pivot) -> list[Table]:
    """One table, or as many as the columns of a sheet make of all ciphers."""
    ciphers = sorted(pivot.ciphers, key=cipher_order)
    most = SHEET_COLUMNS - len(PIVOT_TEXTS)
    parts = [ciphers[start : start + most] for start in range(0, max(1, len(ciphers)), most)]
    return [
        _pivot(pivot, part, f"Pivot, part {number}" if number > 1 else "Pivot")
        for number, part in enumerate(parts, start=1)
    ]


def _pivot(pivot: Pivot, ciphers: Sequence[str], name: str) -> Table:
    columns = [
        *(Column(text, "text", "", "", 24) for text in PIVOT_TEXTS),
        *(Column(f"{one} ({pivot.unit})", "number", "", pivot.unit, 18) for one in ciphers),
    ]
    texts = range(len(PIVOT_TEXTS))
    places = [*texts, *(pivot.ciphers.index(one) + len(PIVOT_TEXTS) for one in ciphers)]
    lines = ([line[place] for place in places] for line in pivot.lines)
    return Table(name, columns, len(pivot.lines), lines)


class _Writer:
    """Sheets of one workbook, written cell by cell with one format for each kind of column."""

    def __init__(self, book: Workbook) -> None:
        self.book = book
        self.header = book.add_format(
            {"bold": True, "bg_color": "#E8ECF2", "bottom": 1, "text_wrap": True, "valign": "top"}
        )
        self._formats: dict[tuple[str, str], Format] = {}

    def format_of(self, column: Column) -> Format:
        """Numbers by their unit, dates as dates, text that stays text when it is edited."""
        key = (column.kind, column.unit)
        if key not in self._formats:
            self._formats[key] = self.book.add_format(_properties(column))
        return self._formats[key]

    def sheet(self, name: str, columns: Sequence[Column], rows: int) -> Worksheet:
        """A sheet with its header, filters over `rows` rows, frozen panes and print set-up."""
        sheet = self.book.add_worksheet(name)
        set_up_print(sheet, sum(column.width for column in columns if not column.folded))
        for place, column in enumerate(columns):
            options = {"level": 1, "hidden": True} if column.folded else {}
            sheet.set_column(place, place, column.width, None, options)
        sheet.set_row(0, 45)
        sheet.freeze_panes(1, min(FROZEN_COLUMNS, len(columns) - 1))
        sheet.repeat_rows(0)
        sheet.autofilter(0, 0, max(rows, 1), len(columns) - 1)
        for place, column in enumerate(columns):
            sheet.write_string(0, place, for_writer(title(column)), self.header)
        for place, column in enumerate(columns):
            sheet.write_blank(1, place, None, self.format_of(column))
        return sheet


def title(column: Column) -> str:
    """What stands over a column: its name, and its unit where the name does not say it."""
    said = column.unit in ("", "B/s", "MB/s", "bytes", "s")
    told = said or column.name.endswith(("_per_gb", "_ratio", ")"))
    return column.name if told else f"{column.name} ({column.unit})"


def _properties(column: Column) -> dict[str, Any]:
    if column.kind == "text":
        return {"quote_prefix": True}
    if column.kind == "moment":
        return {"num_format": "yyyy-mm-dd hh:mm:ss"}
    if column.kind == "number":
        return {"num_format": NUMBER_FORMATS.get(column.unit, "0.000")}
    return {"num_format": "#,##0"} if column.kind == "integer" else {}


def set_up_print(sheet: Worksheet, width: int) -> None:
    """A4 with names and page numbers; one page across, or several of what is too wide to read."""
    sheet.set_paper(9)
    if width > PORTRAIT_WIDTH:
        sheet.set_landscape()
    if width > LANDSCAPE_WIDTH:
        sheet.repeat_columns(0, FROZEN_COLUMNS - 1)
    sheet.fit_to_pages(-(-width // LANDSCAPE_WIDTH), 0)
    sheet.set_margins(0.4, 0.4, 0.6, 0.6)
    sheet.set_footer("&L&8&F: &A&R&8&P of &N")


def write_workbook(path: Path, contents: Contents, parts: Sequence[Table]) -> None:
    """Every sheet; those of tables have their header and one empty row in their styles."""
    with xlsxwriter.Workbook(str(path), OPTIONS) as book:
        book.set_properties({"title": for_cell(contents.asked.title), "author": "Ciphermark"})
        writer = _Writer(book)
        written = [
            writer.sheet(name, table.columns, rows)
            for table in parts
            for name, rows in table.sheets
        ]
        _method(writer, contents)
        if contents.charted is not None:
            # The chart stands beside the table, and on pages of its own.
            written[0].set_print_scale(68)
            written[0].set_v_pagebreaks([len(parts[0].columns)])
            last = min(parts[0].sheets[0][1], PAGE_ROWS * MOST_BREAKS)
            written[0].set_h_pagebreaks([*range(1 + PAGE_ROWS, 1 + last, PAGE_ROWS)])
            add_charts(book, written[0], contents.charted)


def _method(writer: _Writer, contents: Contents) -> None:
    sheet = writer.book.add_worksheet("Method")
    set_up_print(sheet, PORTRAIT_WIDTH)
    sheet.set_column(0, 0, 36)
    sheet.set_column(1, 1, METHOD_WIDTH)
    top = {"valign": "top", "align": "left", "text_wrap": True}
    text = writer.book.add_format({**top, "quote_prefix": True})
    bold = writer.book.add_format({**top, "bold": True, "quote_prefix": True})
    date = writer.book.add_format({**top, "num_format": "yyyy-mm-dd hh:mm:ss"})
    number = writer.book.add_format({**top, "num_format": "#,##0"})
    lines = method_lines(contents.asked, contents.comparison, contents.columns)
    for row, (name, value) in enumerate(lines):
        # Of a wrapped text some programs make the row no higher by themselves.
        sheet.set_row(row, LINE_POINTS * _text_lines(str(value)))
        sheet.write_string(row, 0, for_writer(name), bold)
        if isinstance(value, datetime):
            sheet.write_datetime(row, 1, value.astimezone(UTC), date)
        elif isinstance(value, int | float):
            sheet.write_number(row, 1, value, number)
        elif value:
            sheet.write_string(row, 1, for_writer(value), text)


def _text_lines(text: str) -> int:
    """Lines that a text takes in the wide column, as far as an Excel row can have them."""
    lines = sum(1 + len(line) // (METHOD_WIDTH - 8) for line in text.split("\n"))
    return min(lines, HIGHEST_POINTS // LINE_POINTS)
