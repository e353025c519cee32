"""The workbook of an export: what people read, where the CSV is what programs read.

It has few columns under plain headings and rates in MB/s, a chart, and says how it was made.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.workbook import Workbook
from xlsxwriter.worksheet import Worksheet

from analysis.comparison import Comparison
from exports.columns import Column, StoredColumn
from exports.comparison_columns import comparison_rows, sheet_columns, values_of
from exports.csv_dialect import for_cell, for_writer
from exports.excel_chart import Charted, add_chart
from exports.export_request import ExportRequest
from exports.method_sheet import method_lines

FIRST_DATE = datetime(1900, 3, 1, tzinfo=UTC)
"""Spreadsheets know a day before it that never was."""

NUMBER_FORMATS = {
    "B/s": "[>=1000]#,##0;[>=100]0.0;0.00",
    "fraction": "0.0%",
    "bytes": "#,##0",
}
"""The cells have the whole number; of MB/s four digits are shown."""

METHOD_WIDTH = 90
LINE_POINTS = 15
HIGHEST_POINTS = 409
"""Of a row."""

LANDSCAPE_WIDTH = 200
"""Characters across a page of A4 that can still be read."""

OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "remove_timezone": True,
}

Write = Callable[[int, Any], object]


@dataclass(frozen=True)
class Contents:
    """What goes into a workbook.

    `comparison` has the groups of the table in their order; `charted` is None without any.
    """

    asked: ExportRequest
    comparison: Comparison | None
    charted: Charted | None
    columns: tuple[StoredColumn, ...]
    measurements: Iterable[Sequence[Any]]
    host_columns: tuple[StoredColumn, ...]
    hosts: Iterable[Sequence[Any]]


def write_workbook(file: BinaryIO, contents: Contents) -> None:
    """Write every sheet, row by row."""
    with xlsxwriter.Workbook(file, OPTIONS) as book:
        book.set_properties({"title": for_cell(contents.asked.title), "author": "Ciphermark"})
        tables = _Tables(book)
        if contents.comparison is not None:
            _comparison(tables, contents)
        tables.add("Measurements", contents.columns, contents.measurements)
        tables.add("Hosts", contents.host_columns, contents.hosts)
        _method(book, contents)


def _comparison(tables: "_Tables", contents: Contents) -> None:
    assert contents.comparison is not None  # noqa: S101 - for the type checker
    columns = sheet_columns(contents.comparison)
    rows = comparison_rows(contents.asked, contents.comparison)
    sheet = tables.add("Comparison", columns, (values_of(row, columns) for row in rows))
    if contents.charted is not None:
        # The chart is beside the table, and printed on a page of its own.
        sheet.set_v_pagebreaks([len(columns)])
        add_chart(tables.book, sheet, contents.charted)


class _Tables:
    """Sheets with a table each, which have one format for each kind of column."""

    def __init__(self, book: Workbook) -> None:
        self.book = book
        self._header = book.add_format(
            {"bold": True, "bg_color": "#E8ECF2", "bottom": 1, "text_wrap": True, "valign": "top"}
        )
        self._formats: dict[tuple[str, str], Format] = {}

    def add(self, name: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> Worksheet:
        """Add a sheet with its header frozen, filters and a print set-up."""
        sheet = self.book.add_worksheet(name)
        _set_up_print(sheet, sum(column.width for column in columns))
        sheet.repeat_rows(0)
        sheet.freeze_panes(1, 1)
        sheet.set_row(0, 2 * LINE_POINTS)
        for place, column in enumerate(columns):
            sheet.set_column(place, place, column.width)
            sheet.write_string(0, place, for_writer(column.title), self._header)
        writes = [self._write(sheet, place, column) for place, column in enumerate(columns)]
        last = 1
        for last, values in enumerate(rows, start=1):
            for write, value in zip(writes, values, strict=True):
                if value is not None and value != "":
                    write(last, value)
        sheet.autofilter(0, 0, last, len(columns) - 1)
        return sheet

    def _write(self, sheet: Worksheet, place: int, column: Column) -> Write:
        """Return what writes a value of the column; what cannot be in a cell leaves it empty."""
        form, scale = self._format(column), column.scale

        def text(row: int, value: Any) -> None:
            sheet.write_string(row, place, for_writer(str(value)), form)

        def number(row: int, value: Any) -> None:
            if math.isfinite(value):
                sheet.write_number(row, place, value / scale, form)

        def moment(row: int, value: Any) -> None:
            if value >= FIRST_DATE:
                sheet.write_datetime(row, place, value.astimezone(UTC), form)

        def flag(row: int, value: Any) -> None:
            sheet.write_boolean(row, place, value, form)

        kinds = {"text": text, "number": number, "integer": number, "moment": moment, "flag": flag}
        return kinds[column.kind]

    def _format(self, column: Column) -> Format:
        """Numbers by their unit, dates as dates, text that stays text when it is edited."""
        key = (column.kind, column.unit)
        if key not in self._formats:
            self._formats[key] = self.book.add_format(_properties(column))
        return self._formats[key]


def _properties(column: Column) -> dict[str, Any]:
    if column.kind == "text":
        return {"quote_prefix": True}
    if column.kind == "moment":
        return {"num_format": "yyyy-mm-dd hh:mm"}
    if column.kind == "number":
        return {"num_format": NUMBER_FORMATS.get(column.unit, "0.000")}
    return {"num_format": "#,##0"} if column.kind == "integer" else {}


def _set_up_print(sheet: Worksheet, width: int) -> None:
    """Print on A4, as many pages across as can be read."""
    sheet.set_paper(9)
    sheet.set_landscape()
    sheet.fit_to_pages(-(-width // LANDSCAPE_WIDTH), 0)
    sheet.set_footer("&L&8&F: &A&R&8&P of &N")


def _method(book: Workbook, contents: Contents) -> None:
    sheet = book.add_worksheet("Method")
    _set_up_print(sheet, METHOD_WIDTH)
    sheet.set_column(0, 0, 36)
    sheet.set_column(1, 1, METHOD_WIDTH)
    top = {"valign": "top", "align": "left", "text_wrap": True}
    text = book.add_format({**top, "quote_prefix": True})
    bold = book.add_format({**top, "bold": True, "quote_prefix": True})
    date = book.add_format({**top, "num_format": "yyyy-mm-dd hh:mm:ss"})
    number = book.add_format({**top, "num_format": "#,##0"})
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
