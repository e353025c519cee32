"""The columns of a comparison's files: one row for each group and cipher, unrounded."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from analysis.comparison import NEEDS_PROFILE, Comparison, Group
from analysis.groups import FEW_VOTES, GroupSummary
from analysis.profiles.baselines import only
from exports.columns import Column, Kind
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
    return f"{metric}_{named}"


Get = Callable[[ComparisonRow], Any]


def _column(
    name: str,
    kind: Kind,
    description: str,
    get: Get,
    heading: str = "",
    *,
    unit: str = "",
    width: int = 12,
) -> ComparisonColumn:
    return ComparisonColumn(name, kind, description, unit, width, get, heading=heading)


def _asked(name: str, description: str, kind: Kind = "text", field: str = "") -> ComparisonColumn:
    """Return a column that has the same in every row."""
    return _column(name, kind, description, lambda row: getattr(row.asked, field or name))


def _figure(row: ComparisonRow, name: str) -> float:
    return float(getattr(row.summary, name))


def _values(value: str, unit: str) -> tuple[ComparisonColumn, ...]:
    """The figures, whose names have the metric and its unit."""
    return tuple(
        _column(
            value + suffix,
            "number",
            description,
            partial(_figure, name=name),
            heading,
            unit=unit,
        )
        for suffix, name, heading, description in (
            ("", "median", "Median", "Median of the hosts' votes."),
            ("_q1", "q1", "First quartile", "First quartile: a quarter of the hosts is below."),
            ("_q3", "q3", "Third quartile", "Third quartile: a quarter of the hosts is above."),
            ("_min", "minimum", "Lowest", "The lowest vote."),
            ("_max", "maximum", "Highest", "The highest vote."),
        )
    )


_RATIOS: tuple[tuple[str, Kind, str, str], ...] = (
    ("ratio", "number", "Ratio", "The figure by the reference's; empty: it has none, or is it."),
    ("low", "number", "Ratio, low", "The ratio is this or more, with 95 %; empty: too few hosts."),
    ("high", "number", "Ratio, high", "It is this or less."),
    ("n", "integer", "Hosts of the ratio", "Hosts behind the ratio."),
    ("beyond_noise", "flag", "Beyond noise", "Whether 1 is outside of that interval."),
    ("tool_changed", "flag", "Tool changed", "openssl speed itself changed between the two."),
)


def _ratios() -> Iterator[ComparisonColumn]:
    """Return the columns that say how the groups stand to the reference."""
    for field, kind, heading, said in _RATIOS:
        yield _column(
            field if field in ("ratio", "beyond_noise", "tool_changed") else f"ratio_{field}",
            kind,
            said,
            partial(_ratio, field=field),
            heading,
            unit="ratio" if kind == "number" else "",
        )


def _ratio(row: ComparisonRow, field: str) -> Any:
    ratio = row.group.ratios.get(row.cipher)
    return getattr(ratio, field) if ratio else None


_SPLIT = _column(
    "split", "text", "Its value of split_by.", lambda row: row.group.split_label, "Split", width=24
)
_SPLIT_KEYS = (
    _asked("split_by", "What the groups are split by."),
    _column("split_key", "text", "Key of that value.", lambda row: row.group.split_key),
)


def _doubtful(row: ComparisonRow) -> int | None:
    return row.group.doubtful.get(row.cipher, 0) if row.summary.n <= FEW_VOTES else None


def comparison_columns(comparison: Comparison) -> tuple[ComparisonColumn, ...]:
    """The columns; the figures' names depend on the metric."""
    of_split = comparison.split_by is not None
    return (
        _column(
            "group", "text", "Name of the group.", lambda row: row.group.label, "Group", width=30
        ),
        *((_SPLIT,) if of_split else ()),
        _column(
            "cipher",
            "text",
            "The name that the tool itself uses.",
            lambda row: row.cipher,
            "Cipher",
            width=30,
        ),
        *_values(value_name(comparison.metric, comparison.unit), comparison.unit),
        _column(
            "n", "integer", "Hosts that measured this cipher.", lambda row: row.summary.n, "Hosts"
        ),
        *(_ratios() if comparison.relative_to else ()),
        _column(
            "doubtful",
            "integer",
            f"Of up to {FEW_VOTES} hosts those whose figure is noisy, or of a disturbed run;"
            " empty: there are more.",
            _doubtful,
            "Low confidence",
        ),
        _column(
            "uncertainty_factor",
            "number",
            "Normalised: the value may be as many times lower or higher; empty: not known.",
            lambda row: row.group.uncertainty.get(row.cipher),
            "Uncertainty factor" if comparison.metric in NEEDS_PROFILE else "",
            unit="ratio",
        ),
        _column(
            "single_baseline",
            "text",
            "Normalised: the baseline that some hosts' speed rests on alone, as in: 3DES only.",
            lambda row: only(row.group.families.get(row.cipher, ())),
            "Baseline" if comparison.metric in NEEDS_PROFILE else "",
        ),
        _column(
            "hosts", "integer", "Hosts in the group, one vote each.", lambda row: row.group.hosts
        ),
        _column("group_key", "text", "Key in filters and addresses.", lambda row: row.group.key),
        _asked("tool", "ssh (whole transfer) or openssl (cipher alone)."),
        _asked("group_by", "What the hosts are grouped by."),
        *(_SPLIT_KEYS if of_split else ()),
        *((_asked("relative_to", "The reference of ratios."),) if comparison.relative_to else ()),
        *(
            (_asked("matched", "Only hosts with every group.", "flag"),)
            if comparison.matched
            else ()
        ),
        _column(
            "reference_profile",
            "text",
            "Normalised: what the hosts' speed refers to.",
            lambda row: row.comparison.profile,
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
    return tuple(column for column in comparison_columns(comparison) if column.heading)


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
