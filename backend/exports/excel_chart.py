"""The chart of a comparison as spreadsheets draw it: bars by group, quartiles as error bars."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from xlsxwriter.utility import xl_range_formula
from xlsxwriter.workbook import Workbook
from xlsxwriter.worksheet import Worksheet

from analysis.comparison import Comparison, Group
from exports.asked import Asked
from exports.comparison_columns import comparison_columns
from exports.palette import cipher_order, colour, short_names
from exports.text import for_writer

MOST_BARS = 600
"""As many as the page draws; the table has all of them."""

AXES = {
    "B/s": ("MB/s (10⁶ bytes per second)", "#,##0,,"),
    "s/GB": ("CPU seconds for 10⁹ bytes", "0.0"),
    "ratio": ("times", "0.0"),
}
"""Unit -> what stands at the axis, and how its numbers are written."""

BAR_PIXELS = 14


@dataclass(frozen=True)
class Charted:
    """A comparison with the groups that its chart shows, in their order."""

    asked: Asked
    comparison: Comparison
    groups: tuple[Group, ...]
    logarithmic: bool


def add_chart(book: Workbook, sheet: Worksheet, contents: Charted) -> None:
    """The chart beside the comparison's table, and what it draws on a sheet of its own."""
    comparison = contents.comparison
    ciphers = sorted(comparison.ciphers, key=cipher_order)
    groups = _drawable(contents.groups)
    data = book.add_worksheet("Chart data")
    _write_data(data, groups, ciphers)
    chart = book.add_chart({"type": "bar"})
    names = short_names(ciphers)
    for number, cipher in enumerate(ciphers):
        chart.add_series(_series(data.get_name(), number, len(groups), names[cipher], cipher))
    few = len(groups) < len(comparison.groups)
    note = f", {len(groups)} of {len(comparison.groups)} groups" if few else ""
    title = for_writer(contents.asked.title + note)
    chart.set_title({"name": title, "name_font": {"size": 12}, "overlay": False})
    chart.set_y_axis({"reverse": True, "num_font": {"size": 9}})
    chart.set_x_axis(_value_axis(comparison.unit, logarithmic=contents.logarithmic))
    chart.set_legend({"position": "bottom"})
    bars = sum(len(group.values) for group in groups)
    chart.set_size({"width": 760, "height": 200 + BAR_PIXELS * bars + 12 * len(groups)})
    place = {"x_offset": 16, "y_offset": 8, "object_position": 3}
    sheet.insert_chart(1, len(comparison_columns(comparison)), chart, place)


def _drawable(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """As many of the groups as a chart has room for, one at least."""
    bars = list(accumulate(len(group.values) for group in groups))
    return groups[: max(1, sum(one <= MOST_BARS for one in bars))]


def _value_axis(unit: str, *, logarithmic: bool) -> dict[str, Any]:
    label, number_format = AXES[unit]
    return {
        "name": label,
        **({"log_base": 10} if logarithmic else {"min": 0}),
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
        "name": for_writer(name),
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


def _write_data(sheet: Worksheet, groups: tuple[Group, ...], ciphers: list[str]) -> None:
    """Groups by ciphers: median, and how far the quartiles are below and above it."""
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 3 * len(ciphers), 16)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.write_string(0, 0, "group")
    for number, cipher in enumerate(ciphers):
        for place, part in enumerate(("median", "median - q1", "q3 - median"), start=1):
            sheet.write_string(0, 3 * number + place, for_writer(f"{cipher} {part}"))
    for row, group in enumerate(groups, start=1):
        sheet.write_string(row, 0, for_writer(group.label))
        for number, cipher in enumerate(ciphers):
            if cipher in group.values:
                one = group.values[cipher]
                distances = [one.median - one.q1, one.q3 - one.median] if one.n > 1 else []
                figures = [one.median, *distances]
                for place, figure in enumerate(figures, start=1):
                    sheet.write_number(row, 3 * number + place, figure)
