"""What a comparison or export asks for, and the SQL that selects it.

Everything a user sends arrives as a query parameter of the statement; only names from the
closed lists of this module become part of its text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from analysis.comparison import UNITS
from runs.models.environment import DIMENSIONS

TOOLS = ("ssh", "openssl")
METRICS = tuple(UNITS)
GROUPINGS = (*DIMENSIONS, "acceleration", "host")
"""Every `group_by` but `tag:KEY`."""

TAG_PREFIX = "tag:"

FILTERS = (
    "host",
    "cpu",
    "cpu_vendor",
    "microarchitecture",
    "os",
    "openssl",
    "openssl_series",
    "openssh",
    "virtualization",
    "verdict",
    "tag",
    "source",
)
"""Filters that may be repeated; each takes the key of a value (`tag`: KEY:VALUE).

`verdict` is the AES verdict of a run: `acceleration` says whether AES was masked in a series.
"""


@dataclass(frozen=True)
class ComparisonQuery:
    """One question to the measurements; names and defaults are the API's (contract, section 5).

    `ciphers` empty: all. `block_size` None: the largest that all groups have. `mac` None: the
    series measured with the client's own choice of MAC. `profile` None: the active one.
    """

    tool: str = "ssh"
    group_by: str = "cpu"
    metric: str = "throughput"
    ciphers: tuple[str, ...] = ()
    block_size: int | None = None
    operation: str = "encrypt"
    method: str = "pipeline"
    mac: str | None = None
    compression: bool = False
    target_kind: str = "loopback"
    acceleration: str = "default"
    threads: int = 1
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    profile: str | None = None


@dataclass
class Where:
    """Conditions of a statement, all of which must hold, with their parameters."""

    conditions: list[str]
    parameters: list[Any]

    def add(self, condition: str, *parameters: Any) -> None:
        """Another condition with its parameters."""
        self.conditions.append(condition)
        self.parameters.extend(parameters)

    @property
    def text(self) -> str:
        """The conditions as SQL."""
        return " AND ".join(self.conditions)


COUNTED = "r.status = 'ready' AND NOT r.hidden AND NOT m.implausible"
"""Hidden and rejected runs and implausible figures never count."""


def _column(dimension: str) -> str:
    """The environment's column of a dimension; the last guard before a name becomes SQL."""
    if dimension not in DIMENSIONS:
        raise LookupError(f"{dimension!r} is no dimension")
    return f"{dimension}_id"


def add_filter(where: Where, name: str, values: tuple[str, ...]) -> None:
    """The condition of one of `FILTERS` on runs (r) and environments (e): any of the values."""
    if name == "source":
        where.add("r.source = ANY(%s)", list(values))
    elif name == "verdict":
        where.add("r.acceleration = ANY(%s)", list(values))
    elif name == "host":
        where.add("r.host_id IN (SELECT id FROM runs_host WHERE slug = ANY(%s))", list(values))
    elif name == "tag":
        pairs = [value.partition(":") for value in values]
        tests = " OR ".join("r.tags ->> %s = %s" for _ in pairs)
        where.add(f"({tests})", *(part for key, _, value in pairs for part in (key, value)))
    else:
        where.add(
            f"e.{_column(name)} IN (SELECT id FROM runs_dimensionvalue"  # noqa: S608 - closed list
            " WHERE dimension = %s AND key = ANY(%s))",
            name,
            list(values),
        )


def run_conditions(query: ComparisonQuery, *, without: str | None = None) -> Where:
    """Conditions on runs (r), environments (e) and measurements (m), but for filter `without`."""
    where = Where([COUNTED, "s.tool = %s"], [query.tool])
    for name, values in query.filters.items():
        if name != without and values:
            add_filter(where, name, values)
    if query.since is not None:
        where.add("r.started_at >= %s", query.since)
    if query.until is not None:
        where.add("r.started_at <= %s", query.until)
    return where


def series_conditions(query: ComparisonQuery, *, without: str | None = None) -> Where:
    """`run_conditions` and those on the series, but for ciphers and block size."""
    where = run_conditions(query, without=without)
    where.add("s.acceleration = %s", query.acceleration)
    if query.tool == "openssl":
        where.add("s.operation = %s", query.operation)
        where.add("s.threads = %s", query.threads)
        return where
    where.add("s.method = %s", query.method)
    where.add("s.compression = %s", query.compression)
    where.add("s.target_kind = %s", query.target_kind)
    if query.mac is None:
        where.add("s.mac = ''")
    else:
        where.add(
            "(s.mac = %s OR m.negotiated_id IN (SELECT id FROM runs_negotiated WHERE mac = %s))",
            query.mac,
            query.mac,
        )
    return where


def measurement_conditions(query: ComparisonQuery) -> Where:
    """`series_conditions` with the query's ciphers and, for openssl, the block size it names."""
    where = series_conditions(query)
    if query.ciphers:
        where.add("s.cipher = ANY(%s)", list(query.ciphers))
    if query.tool == "openssl" and query.block_size is not None:
        where.add("s.block_size = %s", query.block_size)
    return where


@dataclass(frozen=True)
class Grouping:
    """How rows get their group: SQL for key and label, the join it needs, its parameters."""

    key: str
    label: str
    join: str
    parameters: tuple[Any, ...] = ()


def grouping(group_by: str) -> Grouping:
    """The grouping of a validated `group_by`."""
    if group_by.startswith(TAG_PREFIX):
        tag = group_by.removeprefix(TAG_PREFIX)
        value = "coalesce(r.tags ->> %s, 'unknown')"
        label = "coalesce(r.tags ->> %s, 'Not tagged')"
        return Grouping(value, label, "", (tag, tag))
    if group_by == "host":
        return Grouping("h.slug", "h.name", "JOIN runs_host h ON h.id = r.host_id")
    if group_by == "acceleration":
        return Grouping("r.acceleration", "initcap(r.acceleration)", "")
    join = f"JOIN runs_dimensionvalue d ON d.id = e.{_column(group_by)}"
    return Grouping("d.key", "d.label", join)
