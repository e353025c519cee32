"""Export Excel workbooks for human readers. For programs, `compare.files` exports CSV."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, BinaryIO, NamedTuple

from xlsxwriter.chart import Chart
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_range_formula
from xlsxwriter.workbook import Workbook
from xlsxwriter.worksheet import Worksheet

from cipherspeed.choices import heading
from cipherspeed.group_view import GroupView, drawable
from cipherspeed.groups import NEEDS_PROFILE, Comparison, Group, Ratio
from cipherspeed.palette import cipher_order, colour, short_names
from cipherspeed.reference_profile import PROFILE
from compare.facets import shared_hosts
from compare.files import (
    MEASUREMENT_COLUMNS,
    RATIOS,
    Key,
    comparison_rows,
    host_rows,
    measurement_rows,
    question,
    value_name,
)
from compare.question import ComparisonQuery
from runs.models import Measurement, Run

HOW_TO_READ = (
    "Throughput is bytes divided by seconds. 1 MB/s is 10⁶ bytes per second.",
    "A measurement is one cipher in one configuration of a run. Its result is the median of its "
    "tries. Its spread is 1.4826 times the median absolute deviation, divided by the median.",
    "In a comparison, each host counts once per group, in the environment of its latest run there. "
    "A group's result is the median of its hosts. Half of the hosts lie between the quartiles.",
    "Low confidence counts hosts whose result is noisy or from a disturbed run, in groups of up to "
    "five hosts.",
    "A ratio is the result divided by that of the reference, with its 95 % confidence interval. "
    "Tool changed means that the two versions of openssl speed measure this cipher differently.",
    "Normalised throughput is the throughput divided by the host's speed index, from its arcfour, "
    "Blowfish and 3DES speed. It estimates the throughput on the reference host; the true value "
    "may differ by the uncertainty factor.",
    "Comparisons exclude hidden and rejected runs and implausible results.",
    "An empty cell means unknown or not applicable, never zero.",
)
AXES = {
    "B/s": ("MB/s (10⁶ bytes per second)", "#,##0"),
    "s/GB": ("CPU seconds per GB (10⁹ bytes)", "0.0"),
    "ratio": ("times", "0.0"),
}
"""Title and number format of the chart axis, by unit."""

DIFFERENCE = "+0.0%;-0.0%;0.0%"


class SheetColumn(NamedTuple):
    """Define a column of a worksheet.

    `form`: Excel number format. `scale`: divisor of the values, such as 1e6 for MB/s.
    """

    heading: str
    width: int = 14
    form: str = ""
    scale: float = 1


MB_PER_SECOND = ("[>=1000]#,##0;[>=100]0.0;0.00", 1e6)
"""Excel number format and divisor for values in MB/s."""

FACTOR = "0.000"

FIGURES = {
    "B/s": (" (MB/s)", *MB_PER_SECOND),
    "s/GB": (" (s/GB)", FACTOR, 1),
    "ratio": ("", FACTOR, 1),
}
"""Suffix of column headings, Excel number format and divisor, by unit."""


@dataclass(frozen=True)
class Contents:
    """Describe the contents of a workbook.

    `comparison`: only the groups that match the search, in display order. `keys`: (run, series) of
    each measurement. `parameters`: (name, value) of each request parameter. `site`, `page`: URLs.
    """

    query: ComparisonQuery
    comparison: Comparison | None
    view: GroupView
    keys: Collection[Key]
    parameters: Sequence[tuple[str, str]]
    site: str
    page: str


class Doubtful(float):
    """Mark a difference for display in grey: it is within the noise, or there are too few hosts."""


def matrix_columns(comparison: Comparison, ciphers: Sequence[str]) -> Iterator[SheetColumn]:
    """Yield the columns of the worksheet "Comparison", which has one row per group."""
    _, form, scale = FIGURES[comparison.unit]
    names = short_names(ciphers)
    yield SheetColumn("Group", 34)
    yield SheetColumn("Hosts", 8)
    for cipher in ciphers:
        yield SheetColumn(names[cipher], 14, form, scale)
        if comparison.relative_to:
            yield SheetColumn(f"{names[cipher]}, difference", 12, DIFFERENCE)


def matrix_row(comparison: Comparison, group: Group, ciphers: Sequence[str]) -> Iterator[Any]:
    yield group.name
    yield group.hosts
    for cipher in ciphers:
        summary, ratio = group.values.get(cipher), group.ratios.get(cipher)
        yield summary and summary.median
        if comparison.relative_to:
            yield ratio and _difference(ratio)


def _difference(ratio: Ratio) -> float | str:
    if ratio.tool_changed:
        return "tool changed"
    return (float if ratio.beyond_noise else Doubtful)(ratio.ratio - 1)


def matrix_notes(contents: Contents, comparison: Comparison) -> Iterator[str]:
    yield heading(comparison)
    unit = "" if comparison.unit == "ratio" else f", in {AXES[comparison.unit][0]}"
    yield f"Each value is the median of the hosts in the group{unit}."
    if comparison.relative_to:
        label = comparison.relative_to.label or comparison.relative_to.key
        yield f"Differences are relative to {label}. “?”: within the noise, or too few hosts."
        for pair in () if comparison.matched else shared_hosts(contents.query):
            if pair.mostly_different and comparison.relative_to.key in pair.keys:
                yield (
                    f"{pair.first.label} and {pair.second.label} have mostly different hosts: only "
                    f"{pair.shared} of {pair.hosts} are in both. Compare matched hosts instead."
                )
    drawn = len(drawable(contents.view.on_page(comparison.groups)))
    if drawn < len(comparison.groups):
        yield f"The chart shows {drawn} of {len(comparison.groups)} groups."
    yield f"{comparison.hosts} hosts, {datetime.now(UTC):%Y-%m-%d}, {contents.page}"


def details_sheet(comparison: Comparison) -> dict[str, SheetColumn]:
    value = value_name(comparison.metric, comparison.unit)
    unit, form, scale = FIGURES[comparison.unit]
    headings = {
        value: "Median",
        f"{value}_q1": "First quartile",
        f"{value}_q3": "Third quartile",
        f"{value}_min": "Lowest",
        f"{value}_max": "Highest",
    }
    columns = {"group": SheetColumn("Group", 30)}
    if comparison.split_by:
        columns["split"] = SheetColumn("Split", 24)
    columns["cipher"] = SheetColumn("Cipher", 30)
    columns |= {
        name: SheetColumn(heading + unit, 12, form, scale) for name, heading in headings.items()
    }
    columns["n"] = SheetColumn("Hosts", 8)
    if comparison.relative_to:
        for name, (_, heading) in RATIOS.items():
            columns[name] = SheetColumn(heading, 10, "0" if name == "ratio_n" else FACTOR)
    columns["doubtful"] = SheetColumn("Low confidence", 12)
    if comparison.metric in NEEDS_PROFILE:
        columns["uncertainty_factor"] = SheetColumn("Uncertainty factor", 12, FACTOR)
        columns["single_baseline"] = SheetColumn("Baseline", 16)
    return columns


MEASUREMENT_SHEET = {
    "host": SheetColumn("Host", 24),
    "cpu": SheetColumn("CPU", 32),
    "os_version": SheetColumn("Operating system", 24),
    "openssl": SheetColumn("OpenSSL", 18),
    "openssh": SheetColumn("OpenSSH", 18),
    "started_at": SheetColumn("Measured (UTC)", 18),
    "tool": SheetColumn("Tool", 10),
    "cipher": SheetColumn("Cipher", 30),
    "block_size_bytes": SheetColumn("Block size (bytes)", 12, "#,##0"),
    "method": SheetColumn("Method", 12),
    "mac": SheetColumn("MAC"),
    "acceleration": SheetColumn("Acceleration"),
    "n": SheetColumn("Tries", 8),
    "throughput_bytes_per_second": SheetColumn("Throughput (MB/s)", 14, *MB_PER_SECOND),
    "spread": SheetColumn("Spread", 10, "0.0%"),
    "normalised_bytes_per_second": SheetColumn("Normalised (MB/s)", 14, *MB_PER_SECOND),
    "cpu_seconds_per_gb": SheetColumn("CPU time (s/GB)", 12, FACTOR),
    "run_url": SheetColumn("Run", 60),
}

HOST_SHEET = {
    "host": SheetColumn("Host", 24),
    "cpu": SheetColumn("CPU", 32),
    "architecture": SheetColumn("Architecture"),
    "os_version": SheetColumn("Operating system", 24),
    "openssl": SheetColumn("OpenSSL", 18),
    "ssh_library": SheetColumn("SSH library", 18),
    "openssh": SheetColumn("OpenSSH", 18),
    "virtualization": SheetColumn("Virtualisation"),
    "runs": SheetColumn("Runs used", 10),
    "last_started_at": SheetColumn("Last measured (UTC)", 18),
    "ssh_index": SheetColumn("Speed index, ssh", 12, FACTOR),
    "openssl_index": SheetColumn("Speed index, openssl", 12, FACTOR),
}

LINE_POINTS = 15
METHOD_WIDTH = 90


def write_workbook(file: BinaryIO, contents: Contents) -> None:
    book = _Book(file)
    if contents.comparison is not None:
        _add_comparison(book, contents, contents.comparison)
    runs = sorted({run for run, _ in contents.keys}, reverse=True)
    with Run.objects.snapshot():
        rows = measurement_rows(
            runs,
            Measurement.objects.filter(series__in={series for _, series in contents.keys}),
            contents.site,
            tuple,
            frozenset(contents.keys),
        )
        shown = itemgetter(*map(MEASUREMENT_COLUMNS.index, MEASUREMENT_SHEET))
        values = (shown(tuple(chain.from_iterable(parts))) for parts in rows)
        book.add_table("Measurements", MEASUREMENT_SHEET.values(), values)
        book.add_table("Hosts", HOST_SHEET.values(), _picked(host_rows(runs), HOST_SHEET))
    _add_method(book, contents)
    book.close()


def _picked(rows: Iterable[dict[str, Any]], names: Collection[str]) -> Iterator[list[Any]]:
    return ([row[name] for name in names] for row in rows)


class _Book(Workbook):  # type: ignore[misc]  # it has no types
    """Write a workbook row by row, without formulas or links."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(
            file, {"constant_memory": True, "remove_timezone": True, "nan_inf_to_errors": True}
        )
        wrapped = {"bold": True, "text_wrap": True, "valign": "top"}
        self.title = self.add_format({"bold": True, "font_size": 14})
        self.note = self.add_format({"font_color": "#5B626C"})
        self.header = self.add_format({**wrapped, "bg_color": "#E8ECF2", "bottom": 1})
        # Cells remain text when users edit them.
        self.text = self.add_format({"quote_prefix": True})
        self.date = self.add_format({"num_format": "yyyy-mm-dd hh:mm", "align": "left"})

    def add_table(
        self,
        name: str,
        columns: Collection[SheetColumn],
        rows: Iterable[Iterable[Any]],
        notes: Sequence[str] = (),
    ) -> Worksheet:
        """Add a worksheet with a frozen header row and Excel filters.

        `notes`: rows above the header. The first note is the title.
        """
        sheet = self.add_worksheet(name)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        for row, note in enumerate(notes):
            self.write(sheet, row, 0, note, self.note if row else self.title)
        top = len(notes)
        sheet.repeat_rows(top)
        sheet.freeze_panes(top + 1, 1)
        sheet.set_row(top, 2 * LINE_POINTS)
        numbers = [self.add_format({"num_format": column.form or "0"}) for column in columns]
        doubtful = self.add_format(
            {"num_format": DIFFERENCE.replace("%", '%" ?"'), "font_color": "#767C85"}
        )
        for place, column in enumerate(columns):
            sheet.set_column(place, place, column.width)
            self.write(sheet, top, place, column.heading, self.header)
        last = top + 1
        scales = [column.scale for column in columns]
        for last, values in enumerate(rows, start=top + 1):
            for place, value in enumerate(values):
                if isinstance(value, float | int) and not isinstance(value, bool):
                    form = doubtful if isinstance(value, Doubtful) else numbers[place]
                    sheet.write_number(last, place, value / scales[place], form)
                elif value is not None and value != "":
                    self.write(sheet, last, place, value)
        sheet.autofilter(top, 0, last, len(columns) - 1)
        return sheet

    def write(
        self, sheet: Worksheet, row: int, place: int, value: Any, form: Format | None = None
    ) -> None:
        if isinstance(value, bool):
            sheet.write_boolean(row, place, value)
        elif isinstance(value, datetime) and value.year > 1900:
            sheet.write_datetime(row, place, value.astimezone(UTC), self.date)
        else:
            text = str(value)
            # XlsxWriter interprets text between these characters as markup.
            if text.startswith("<r>") and text.endswith("</r>"):
                text += "\u200b"
            sheet.write_string(row, place, text, form or self.text)


def _add_comparison(book: _Book, contents: Contents, comparison: Comparison) -> None:
    ciphers = sorted(comparison.ciphers, key=cipher_order)
    columns = list(matrix_columns(comparison, ciphers))
    matrix = (matrix_row(comparison, group, ciphers) for group in comparison.groups)
    sheet = book.add_table("Comparison", columns, matrix, list(matrix_notes(contents, comparison)))
    groups = drawable(contents.view.on_page(comparison.groups))
    if groups:
        chart = _chart(book, comparison, groups, ciphers, contents.view.logarithmic)
        sheet.insert_chart(2, len(columns), chart, {"x_offset": 16, "object_position": 3})
    details = details_sheet(comparison)
    by_group = groupby(
        comparison_rows(contents.query, comparison),
        lambda row: (row["group_key"], row.get("split_key")),
    )
    ordered = (sorted(rows, key=lambda row: cipher_order(row["cipher"])) for _, rows in by_group)
    rows = _picked(chain.from_iterable(ordered), details)
    book.add_table("Details", details.values(), rows)


def _chart(
    book: _Book,
    comparison: Comparison,
    groups: Sequence[Group],
    ciphers: Sequence[str],
    logarithmic: bool,
) -> Chart:
    data = _add_chart_data(book, comparison, groups, ciphers)
    chart = book.add_chart({"type": "bar"})
    for number, cipher in enumerate(ciphers):
        label, median, below, above = (
            f"={xl_range_formula(data.get_name(), 1, column, len(groups), column)}"
            for column in (0, *range(1 + 3 * number, 4 + 3 * number))
        )
        chart.add_series(
            {
                "name": [data.get_name(), 0, 1 + 3 * number],
                "categories": label,
                "values": median,
                "fill": {"color": colour(cipher)},
                "gap": 40,
                "y_error_bars": {
                    "type": "custom",
                    "plus_values": above,
                    "minus_values": below,
                    "line": {"color": "#30343B", "width": 0.75},
                },
            }
        )
    title, form = AXES[comparison.unit]
    # XlsxWriter interprets a title with "!A1" as a reference.
    words = heading(replace(comparison, relative_to=None)).replace("!", "!\u200b")
    chart.set_title({"name": words, "name_font": {"size": 12}})
    chart.set_y_axis({"reverse": True})
    scale = {"log_base": 10} if logarithmic else {}
    chart.set_x_axis({"name": title, "num_format": form, "label_position": "high", **scale})
    chart.set_legend({"position": "bottom"})
    bars = sum(1 + len(group.values) for group in groups)
    chart.set_size({"width": 760, "height": 200 + 14 * bars})
    return chart


def _add_chart_data(
    book: _Book, comparison: Comparison, groups: Sequence[Group], ciphers: Sequence[str]
) -> Worksheet:
    """Add a worksheet with each median and its distances to the quartiles, by group and cipher."""
    names = short_names(ciphers)
    unit, form, scale = FIGURES[comparison.unit]
    columns = [SheetColumn("Group", 30)]
    for cipher in ciphers:
        columns += (
            SheetColumn(f"{title}{unit}", 16, form, scale)
            for title in (names[cipher], f"{names[cipher]} - q1", f"q3 - {names[cipher]}")
        )
    return book.add_table("Chart data", columns, (_chart_row(group, ciphers) for group in groups))


def _chart_row(group: Group, ciphers: Sequence[str]) -> list[Any]:
    row: list[Any] = [group.name]
    for cipher in ciphers:
        figure = group.values.get(cipher)
        row += (
            (figure.median, figure.median - figure.q1, figure.q3 - figure.median)
            if figure
            else (None, None, None)
        )
    return row


def _method_lines(contents: Contents) -> Iterator[tuple[str, Any]]:
    yield "Generated (UTC)", datetime.now(UTC)
    yield "Live view", contents.page
    comparison, known = contents.comparison, set[str]()
    if comparison is not None:
        settings = {
            "metric": comparison.metric,
            "cipher": ", ".join(contents.query.ciphers) or "all",
            **question(contents.query, comparison),
        }
        yield "Comparison", heading(comparison)
        for name, value in settings.items():
            if value not in (None, ""):
                yield name.replace("_", " ").capitalize(), value
        for reason, number in comparison.excluded.items():
            if number:
                yield f"Excluded: {reason.replace('_', ' ')}", number
        known = {*settings, "block_size", "sort", "top"}
    yield from (
        (f"Filter: {name}", value) for name, value in contents.parameters if name not in known
    )
    yield "Reference profile", PROFILE.name
    for tool, levels in PROFILE.levels.items():
        yield f"{tool}: source", PROFILE.made_from[tool]
        for family, level in levels.items():
            yield f"{tool}: {family} (MB/s)", level / 1e6
    yield "How to read the results", HOW_TO_READ[0]
    yield from (("", sentence) for sentence in HOW_TO_READ[1:])


def _add_method(book: _Book, contents: Contents) -> None:
    sheet = book.add_worksheet("Method")
    sheet.fit_to_pages(1, 0)
    top = {"valign": "top", "align": "left", "text_wrap": True, "quote_prefix": True}
    text, bold = book.add_format(top), book.add_format({**top, "bold": True})
    number = book.add_format({"align": "left"})
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 1, METHOD_WIDTH)
    for row, (name, value) in enumerate(_method_lines(contents)):
        # Some programs do not adjust the row height to wrapped text.
        lines = 1 + len(str(value)) // (METHOD_WIDTH - 8)
        sheet.set_row(row, LINE_POINTS * min(lines, 27))
        book.write(sheet, row, 0, name, bold)
        if isinstance(value, float | int) and not isinstance(value, bool):
            sheet.write_number(row, 1, value, number)
        else:
            book.write(sheet, row, 1, value, text)
