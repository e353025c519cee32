"""The chart of a comparison as spreadsheets draw it: bars by group, quartiles as error bars."""

from dataclasses import dataclass
from typing import Any

from xlsxwriter.utility import xl_range_formula
from xlsxwriter.workbook import Workbook
from xlsxwriter.worksheet import Worksheet

from analysis.ciphers.palette import cipher_order, colour, short_names
from analysis.comparison import Comparison, Group
from analysis.group_view import drawable
from exports.comparison_columns import sheet_columns
from exports.csv_dialect import for_chart, for_writer
from exports.export_request import ExportRequest

AXES = {
    "B/s": ("MB/s (10⁶ bytes per second)", "#,##0,,"),
    "s/GB": ("CPU seconds for 10⁹ bytes", "0.0"),
    "ratio": ("times", "0.0"),
}
"""Unit -> what stands at the axis, and how its numbers are written."""

BAR_PIXELS = 14
CIPHERS_ON_A_PAGE = 4


@dataclass(frozen=True)
class Charted:
    """A comparison with the groups that its chart shows, in their order."""

    asked: ExportRequest
    comparison: Comparison
    groups: tuple[Group, ...]
    logarithmic: bool


def add_chart(book: Workbook, sheet: Worksheet, contents: Charted) -> None:
    """Draw the chart beside the comparison's table; its figures are on a sheet of their own."""
    ciphers = sorted(contents.comparison.ciphers, key=cipher_order)
    groups = drawable(contents.groups)
    data = book.add_worksheet("Chart data")
    _write_data(book, data, contents.comparison.unit, groups, ciphers)
    chart = book.add_chart({"type": "bar"})
    for place, cipher in enumerate(ciphers):
        name = short_names(ciphers)[cipher]
        chart.add_series(_series(data.get_name(), place, len(groups), name, cipher))
    chart.set_title({"name": _title(contents, len(groups)), "name_font": {"size": 12}})
    chart.set_y_axis({"reverse": True, "num_font": {"size": 9}})
    chart.set_x_axis(_value_axis(contents))
    chart.set_legend({"position": "bottom"})
    height = sum(12 + BAR_PIXELS * len(group.values) for group in groups)
    chart.set_size({"width": 760, "height": 200 + height})
    beside = {"x_offset": 16, "y_offset": 8, "object_position": 3}
    sheet.insert_chart(1, len(sheet_columns(contents.comparison)), chart, beside)


def _title(contents: Charted, drawn: int) -> str:
    """The question, and which of all groups are here."""
    every = contents.comparison.groups
    first = every.index(contents.groups[0])
    some = f", groups {first + 1} to {first + drawn} of {len(every)}"
    return for_chart(contents.asked.title + (some if drawn < len(every) else ""))


def _value_axis(contents: Charted) -> dict[str, Any]:
    label, number_format = AXES[contents.comparison.unit]
    return {
        "name": label,
        **({"log_base": 10} if contents.logarithmic else {}),
        "num_format": number_format,
        "num_font": {"size": 9},
        "label_position": "high",
        "major_gridlines": {"visible": True, "line": {"color": "#D9DDE3", "width": 0.5}},
    }


def _series(sheet: str, number: int, groups: int, name: str, cipher: str) -> dict[str, Any]:
    first = 1 + 3 * number

    def cells(column: int) -> str:
        return str(xl_range_formula(sheet, 1, column, groups, column))

    return {
        "name": for_chart(name),
        "categories": cells(0),
        "values": cells(first),
        "fill": {"color": colour(cipher)},
        "gap": 40,
        "y_error_bars": {
            "type": "custom",
            "plus_values": f"={cells(first + 2)}",
            "minus_values": f"={cells(first + 1)}",
            "line": {"color": "#30343B", "width": 0.75},
        },
    }


def _write_data(
    book: Workbook, sheet: Worksheet, unit: str, groups: tuple[Group, ...], ciphers: list[str]
) -> None:
    """Groups by ciphers: median, and how far the quartiles are below and above it."""
    header = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bottom": 1})
    form = book.add_format({"num_format": "#,##0" if unit == "B/s" else "0.000"})
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 3 * len(ciphers), 16)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(-(-len(ciphers) // CIPHERS_ON_A_PAGE), 0)
    sheet.repeat_columns(0)
    sheet.repeat_rows(0)
    sheet.freeze_panes(1, 1)
    sheet.set_row(0, 45)
    sheet.write_string(0, 0, "group", header)
    for number, cipher in enumerate(ciphers):
        for place, part in enumerate(("median", "median - q1", "q3 - median"), start=1):
            sheet.write_string(0, 3 * number + place, for_writer(f"{cipher} {part}"), header)
    for row, group in enumerate(groups, start=1):
        sheet.write_string(row, 0, for_writer(group.name))
        for number, cipher in enumerate(ciphers):
            if cipher in group.values:
                one = group.values[cipher]
                distances = [one.median - one.q1, one.q3 - one.median] if one.n > 1 else []
                figures = [one.median, *distances]
                for place, figure in enumerate(figures, start=1):
                    sheet.write_number(row, 3 * number + place, figure, form)
