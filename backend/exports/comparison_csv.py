"""A comparison as CSV: the chart's numbers, unrounded, one row for each group and cipher."""

import csv
from collections.abc import Iterable, Iterator

from analysis.comparison import Comparison, Group
from exports.text import inert

UNIT_NAMES = {"B/s": "bytes_per_second", "s/GB": "", "ratio": "ratio"}
"""How a unit reads at the end of a column name; `cpu_seconds_per_gb` says its own."""

Row = list[str | int | float]


class _Line:
    """A file that hands back what the csv module writes to it."""

    def write(self, text: str) -> str:
        return text


def value_column(comparison: Comparison) -> str:
    """The name of the value's column: the metric with its unit."""
    unit = UNIT_NAMES[comparison.unit]
    if not unit or comparison.metric.endswith(unit):
        return comparison.metric
    metric = "cpu_bound" if comparison.metric == "cpu_bound_throughput" else comparison.metric
    return f"{metric}_{unit}"


def header(comparison: Comparison) -> list[str]:
    """Column names; the value's own column is the median."""
    value = value_column(comparison)
    return [
        "tool",
        "group_by",
        "group_key",
        "group",
        "machines",
        "cipher",
        value,
        *(f"{value}_{part}" for part in ("q1", "q3", "min", "max")),
        "n",
        "reference_profile",
    ]


def _rows(comparison: Comparison, group: Group) -> Iterator[Row]:
    for cipher, summary in group.values.items():
        yield [
            comparison.tool,
            comparison.group_by,
            inert(group.key),
            inert(group.label),
            group.hosts,
            inert(cipher),
            summary.median,
            summary.q1,
            summary.q3,
            summary.minimum,
            summary.maximum,
            summary.n,
            inert(comparison.profile or ""),
        ]


def comparison_csv(comparison: Comparison) -> Iterator[str]:
    """Lines of RFC 4180 CSV, the header first; numbers in full precision."""
    writer = csv.writer(_Line())
    rows: Iterable[Row] = (row for group in comparison.groups for row in _rows(comparison, group))
    yield str(writer.writerow(header(comparison)))
    for row in rows:
        yield str(writer.writerow(row))
