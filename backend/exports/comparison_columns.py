"""The columns of a comparison's files: one row for each group and cipher, unrounded."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from analysis.comparison import Comparison, Group
from analysis.groups import FEW_VOTES, GroupSummary
from analysis.profiles.baselines import only
from exports.columns import Column, Kind, megabytes_name, with_megabytes
from exports.csv_dialect import CsvDialect, Value
from exports.export_request import ExportRequest

UNIT_NAMES = {"B/s": "bytes_per_second", "s/GB": "", "ratio": "ratio"}
"""How a unit reads at the end of a column name; `cpu_seconds_per_gb` says its own."""


@dataclass(frozen=True)
class ComparisonRow:
    """One cipher of one group."""

    asked: ExportRequest
    comparison: Comparison
    group: Group
    cipher: str

    @property
    def summary(self) -> GroupSummary:
        """Median, quartiles and range of the group's votes."""
        return self.group.values[self.cipher]


@dataclass(frozen=True)
class ComparisonColumn(Column):
    """A column that is computed: `get` takes its value from a row; empty texts become None."""

    get: Callable[[ComparisonRow], Any] = lambda row: None


def value_name(metric: str, unit: str) -> str:
    """The name of a column of figures: the metric with its unit."""
    named = UNIT_NAMES[unit]
    if not named or metric.endswith(named):
        return metric
    return f"{'cpu_bound' if metric == 'cpu_bound_throughput' else metric}_{named}"


def value_column(comparison: Comparison) -> str:
    """The name of the value's column."""
    return value_name(comparison.metric, comparison.unit)


def _asked(name: str, description: str, kind: Kind = "text", field: str = "") -> ComparisonColumn:
    """The same in every row, so that a spreadsheet folds it away."""
    return ComparisonColumn(
        name,
        kind,
        description,
        width=16,
        get=lambda row: getattr(row.asked, field or name),
        folded=True,
    )


def _values(value: str, unit: str) -> tuple[ComparisonColumn, ...]:
    """The figures, whose names have the metric and its unit."""

    def column(
        suffix: str, description: str, name: str, *, folded: bool = False
    ) -> ComparisonColumn:
        return ComparisonColumn(
            value + suffix,
            "number",
            description,
            unit,
            17,
            lambda row: getattr(row.summary, name),
            folded=folded,
        )

    return (
        column("", "Median of the hosts' votes.", "median"),
        column("_q1", "First quartile: a quarter of the hosts is below.", "q1"),
        column("_q3", "Third quartile: a quarter of the hosts is above.", "q3"),
        column("_min", "The lowest vote.", "minimum", folded=True),
        column("_max", "The highest vote.", "maximum", folded=True),
    )


def _ratio(row: ComparisonRow, field: str) -> Any:
    ratio = row.group.ratios.get(row.cipher)
    return getattr(ratio, field) if ratio else None


_RATIOS: tuple[tuple[str, Kind, str], ...] = (
    ("ratio", "number", "The figure by the reference's; empty: it has none, or is this one."),
    ("low", "number", "The ratio is this or more, with at least 95 %; empty: too few hosts."),
    ("high", "number", "It is this or less."),
    ("n", "integer", "Hosts behind the ratio."),
    ("beyond_noise", "flag", "Whether 1 is outside of that interval."),
)


def _relating(comparison: Comparison) -> tuple[ComparisonColumn, ...]:
    """How the groups stand to each other, of a comparison that was asked for it."""
    columns: list[ComparisonColumn] = []
    if comparison.relative_to:
        columns += [
            ComparisonColumn(
                field if field in ("ratio", "beyond_noise") else f"ratio_{field}",
                kind,
                said,
                "ratio" if kind == "number" else "",
                14,
                partial(_ratio, field=field),
            )
            for field, kind, said in _RATIOS
        ]
    return tuple(columns)


_SPLIT = (
    ComparisonColumn(
        "split", "text", "Its value of split_by.", "", 24, lambda row: row.group.split_label
    ),
)
_SPLIT_KEYS = (
    _asked("split_by", "What the groups are split by."),
    ComparisonColumn(
        "split_key",
        "text",
        "Key of that value.",
        "",
        24,
        lambda row: row.group.split_key,
        folded=True,
    ),
)


def _doubtful(row: ComparisonRow) -> int | None:
    return row.group.doubtful.get(row.cipher, 0) if row.summary.n <= FEW_VOTES else None


def comparison_columns(comparison: Comparison) -> tuple[ComparisonColumn, ...]:
    """The columns; the figures' names depend on the metric."""
    return (
        ComparisonColumn("group", "text", "Name of the group.", "", 30, lambda r: r.group.label),
        *(_SPLIT if comparison.split_by else ()),
        ComparisonColumn(
            "cipher", "text", "The name that the tool itself uses.", "", 30, lambda row: row.cipher
        ),
        *_values(value_column(comparison), comparison.unit),
        ComparisonColumn(
            "n", "integer", "Hosts that measured this cipher.", "", 8, lambda row: row.summary.n
        ),
        *_relating(comparison),
        ComparisonColumn(
            "doubtful",
            "integer",
            f"Of up to {FEW_VOTES} hosts those whose figure is noisy, or of a disturbed run;"
            " empty: there are more.",
            "",
            10,
            _doubtful,
        ),
        ComparisonColumn(
            "uncertainty_factor",
            "number",
            "Normalised: the value may be as many times lower or higher; empty: not known.",
            "ratio",
            18,
            lambda row: row.group.uncertainty.get(row.cipher),
        ),
        ComparisonColumn(
            "single_baseline",
            "text",
            "Normalised: the baseline that some hosts' speed rests on alone, as in: 3DES only.",
            "",
            16,
            lambda row: only(row.group.families.get(row.cipher, ())),
        ),
        ComparisonColumn(
            "hosts",
            "integer",
            "Hosts in the group, one vote each.",
            "",
            10,
            lambda row: row.group.hosts,
        ),
        ComparisonColumn(
            "group_key",
            "text",
            "Key in filters and addresses.",
            "",
            24,
            lambda row: row.group.key,
            folded=True,
        ),
        _asked("tool", "ssh (whole transfer) or openssl (cipher alone)."),
        _asked("group_by", "What the hosts are grouped by."),
        *(_SPLIT_KEYS if comparison.split_by else ()),
        *((_asked("relative_to", "The reference of ratios."),) if comparison.relative_to else ()),
        *(
            (_asked("matched", "Only hosts with every group.", "flag"),)
            if comparison.matched
            else ()
        ),
        ComparisonColumn(
            "reference_profile",
            "text",
            "Normalised: what the hosts' speed refers to.",
            "",
            24,
            lambda row: row.comparison.profile,
            folded=True,
        ),
        _asked("method", "ssh: pipeline or steady."),
        _asked("block_size_bytes", "openssl: bytes a call.", "integer", "block_size"),
        _asked("mac", "ssh: the MAC; empty: the client's own choice."),
        _asked("operation", "openssl: encrypt or decrypt."),
        _asked("threads", "openssl: how many at once.", "integer"),
        _asked("acceleration", "default, or masked: without hardware AES."),
        _asked("compression", "ssh: whether compression was on.", "flag"),
        _asked("target_kind", "ssh: loopback or remote."),
    )


def sheet_columns(comparison: Comparison) -> tuple[ComparisonColumn, ...]:
    """The columns of a workbook's sheet."""
    return with_megabytes(comparison_columns(comparison), _in_megabytes)


def _in_megabytes(column: ComparisonColumn) -> ComparisonColumn:
    def get(row: ComparisonRow) -> float | None:
        value = column.get(row)
        return None if value is None else value / 1e6

    return replace(column, name=megabytes_name(column.name), unit="MB/s", get=get)


def comparison_rows(asked: ExportRequest, comparison: Comparison) -> Iterator[ComparisonRow]:
    """The rows, groups in the comparison's order."""
    for group in comparison.groups:
        for cipher in group.values:
            yield ComparisonRow(asked, comparison, group, cipher)


def values_of(row: ComparisonRow, columns: tuple[ComparisonColumn, ...]) -> list[Value]:
    """The row's values in the order of the columns."""
    values = [column.get(row) for column in columns]
    return [None if value == "" else value for value in values]


def comparison_csv(
    asked: ExportRequest, comparison: Comparison, dialect: CsvDialect
) -> Iterator[str]:
    """Lines of CSV, the header first; numbers in full precision."""
    columns = comparison_columns(comparison)
    yield dialect.header(column.name for column in columns)
    for row in comparison_rows(asked, comparison):
        yield dialect.line(values_of(row, columns))
