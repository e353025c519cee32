"""The workbook of an export, all but the rows of its measurements (`exports.sheet_parts`)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.workbook import Workbook
from xlsxwriter.worksheet import Worksheet

from analysis.comparison import Comparison
from exports.asked import Asked
from exports.columns import Column, StoredColumn
from exports.comparison_columns import comparison_columns, comparison_rows, values_of
from exports.excel_chart import add_chart
from exports.method_sheet import method_lines
from exports.palette import cipher_order
from exports.text import for_cell

SHEET_ROWS = 1_048_576
"""Rows of a worksheet, its header among them; what is more goes on in the next sheet."""

NUMBER_FORMATS = {"B/s": "#,##0", "fraction": "0.0%", "bytes": "#,##0"}
FIRST_DATE = datetime(1900, 3, 1, tzinfo=UTC)
FROZEN_COLUMNS = 2
PORTRAIT_WIDTH = 90
LANDSCAPE_WIDTH = 250
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
    """Machines by ciphers: of each the figure that votes, None where there is none.

    A line has the machine's host, CPU, OS and OpenSSL, then a value for each cipher.
    """

    unit: str
    ciphers: tuple[str, ...]
    lines: Sequence[Sequence[Any]]


PIVOT_TEXTS = ("host", "cpu", "os_version", "openssl")


@dataclass(frozen=True)
class Contents:
    """What goes into a workbook; `count` is the number of rows of measurements."""

    asked: Asked
    comparison: Comparison | None
    pivot: Pivot | None
    machine_columns: tuple[StoredColumn, ...]
    machines: Sequence[Sequence[Any]]
    columns: tuple[StoredColumn, ...]
    count: int

    @property
    def sheets(self) -> tuple[int, ...]:
        """Rows of each of the sheets of measurements: one, or as many as are needed."""
        most = SHEET_ROWS - 1
        full, rest = divmod(self.count, most)
        return (most,) * full + ((rest,) if rest or not full else ())


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
            sheet.write_string(0, place, title(column), self.header)
        return sheet

    def write(
        self, sheet: Worksheet, row: int, columns: Sequence[Column], values: Iterable[Any]
    ) -> None:
        """One row of values, each in its column's way."""
        for place, (column, value) in enumerate(zip(columns, values, strict=True)):
            form = self.format_of(column)
            if value is None or value == "":
                sheet.write_blank(row, place, None, form)
            elif isinstance(value, datetime) and value >= FIRST_DATE:
                sheet.write_datetime(row, place, value.astimezone(UTC), form)
            elif isinstance(value, bool):
                sheet.write_boolean(row, place, value, form)
            elif isinstance(value, int | float):
                sheet.write_number(row, place, value, form)
            else:
                sheet.write_string(row, place, for_cell(str(value)), form)


def title(column: Column) -> str:
    """What stands over a column: its name, and its unit where the name does not say it."""
    said = column.unit in ("", "B/s", "bytes", "s")
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
        sheet.set_print_scale(60)
        sheet.repeat_columns(0, FROZEN_COLUMNS - 1)
    else:
        sheet.fit_to_pages(1, 0)
    sheet.set_margins(0.4, 0.4, 0.6, 0.6)
    sheet.set_footer("&L&8&F: &A&R&8&P of &N")


def write_workbook(path: Path, contents: Contents) -> None:
    """Every sheet; those of measurements have their header and one empty row in their styles."""
    with xlsxwriter.Workbook(str(path), OPTIONS) as book:
        book.set_properties({"title": for_cell(contents.asked.title), "author": "Ciphermark"})
        writer = _Writer(book)
        if contents.comparison is not None:
            compared = _comparison(writer, contents.asked, contents.comparison)
        if contents.pivot is not None:
            _pivot(writer, contents.pivot)
        for name, rows in zip(measurement_sheets(contents), contents.sheets, strict=True):
            sheet = writer.sheet(name, contents.columns, rows)
            writer.write(sheet, 1, contents.columns, [None] * len(contents.columns))
        _machines(writer, contents)
        _method(writer, contents)
        if contents.comparison is not None and contents.comparison.groups:
            data = book.add_worksheet("Chart data")
            add_chart(book, compared, data, contents.asked.title, contents.comparison)


def measurement_sheets(contents: Contents) -> list[str]:
    """Names of the sheets of measurements."""
    many = range(2, len(contents.sheets) + 1)
    return ["Measurements", *(f"Measurements {number}" for number in many)]


def _comparison(writer: _Writer, asked: Asked, comparison: Comparison) -> Worksheet:
    columns = comparison_columns(comparison)
    rows = sum(len(group.values) for group in comparison.groups)
    sheet = writer.sheet("Comparison", columns, rows)
    for number, row in enumerate(comparison_rows(asked, comparison), start=1):
        writer.write(sheet, number, columns, values_of(row, columns))
    # The chart stands beside the table, and on a page of its own.
    sheet.set_print_scale(68)
    sheet.set_v_pagebreaks([len(columns)])
    return sheet


def _pivot(writer: _Writer, pivot: Pivot) -> None:
    ciphers = sorted(pivot.ciphers, key=cipher_order)
    columns = [
        *(Column(name, "text", "", "", 24) for name in PIVOT_TEXTS),
        *(Column(f"{one} ({pivot.unit})", "number", "", pivot.unit, 18) for one in ciphers),
    ]
    sheet = writer.sheet("Pivot", columns, len(pivot.lines))
    places = [pivot.ciphers.index(cipher) + len(PIVOT_TEXTS) for cipher in ciphers]
    for number, line in enumerate(pivot.lines, start=1):
        values = [*line[: len(PIVOT_TEXTS)], *(line[place] for place in places)]
        writer.write(sheet, number, columns, values)


def _machines(writer: _Writer, contents: Contents) -> None:
    sheet = writer.sheet("Machines", contents.machine_columns, len(contents.machines))
    for number, machine in enumerate(contents.machines, start=1):
        writer.write(sheet, number, contents.machine_columns, machine)


def _method(writer: _Writer, contents: Contents) -> None:
    sheet = writer.book.add_worksheet("Method")
    set_up_print(sheet, PORTRAIT_WIDTH)
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 1, 90)
    text = writer.book.add_format({"quote_prefix": True, "text_wrap": True, "valign": "top"})
    bold = writer.book.add_format({"bold": True, "valign": "top", "quote_prefix": True})
    date = writer.book.add_format(
        {"num_format": "yyyy-mm-dd hh:mm:ss", "align": "left", "valign": "top"}
    )
    for row, (name, value) in enumerate(method_lines(contents)):
        sheet.write_string(row, 0, for_cell(name), bold)
        if isinstance(value, datetime):
            sheet.write_datetime(row, 1, value.astimezone(UTC), date)
        elif isinstance(value, int | float):
            sheet.write_number(row, 1, value, text)
        elif value:
            sheet.write_string(row, 1, for_cell(value), text)
