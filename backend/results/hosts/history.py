"""One host's history of one series: its points, the changes in it, and breaks of the tool."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from analysis.comparison import NEEDS_PROFILE, UNITS
from analysis.group_view import LOWER_IS_BETTER
from analysis.over_time.history import ToolBreak, changes_between_breaks, find_breaks
from analysis.over_time.series_changes import Change
from analysis.profiles.reference_profile import PROFILE
from analysis.summary import NOISY_MINIMUM_TRIES, NOISY_SPREAD
from compare.question import ComparisonQuery
from documents.environment_difference import Difference, environment_difference
from results.selection import Where, add_filter, class_conditions
from store.models import (
    Environment,
    Host,
    RunDocument,
    RunSpeedIndex,
)
from store.models.run import COUNTED
from store.statements import LATEST_FIRST, Relation, fetch_rows

LATEST_POINTS = 1000
"""Points of a history, at most: the latest."""

COUNTED_RUNS = 5000
"""Runs that decide which block size a history is of, at most: the latest."""

EXPLAINED_CHANGES = 50
"""Changes whose environments are compared, at most: the latest. Each needs two documents."""

_VALUES = {
    "throughput": ("v.median", "v.spread"),
    "normalised": ("v.median", "v.spread"),
    "cpu_seconds_per_gb": ("v.cpu_seconds_per_gb", "v.cpu_seconds_per_gb_spread"),
}
"""Metric -> SQL of its value, not yet normalised, and of the spread of the tries."""

METRICS = tuple(_VALUES)

RATES = frozenset({"throughput", "normalised"})
"""Metrics made of how long tries took; the others are made of CPU seconds."""


@dataclass(frozen=True)
class HistoryQuery:
    """One series of one host: the comparison's parameters, and those that it does not have.

    `pinned` None: of each run the series that is not pinned, if it has one. `target_name` is
    that of a remote machine; empty for loopback.
    """

    series: ComparisonQuery
    pinned: bool | None = None
    target_name: str = ""

    @property
    def host(self) -> str:
        """The key of the host."""
        return self.series.filters["host"][0]

    @property
    def cipher(self) -> str:
        """The one cipher."""
        return self.series.ciphers[0]


@dataclass(frozen=True)
class Point:
    """What one run says about the series; `median` in the metric's unit, `spread` a fraction."""

    run_pk: int
    run_id: UUID
    started_at: datetime
    median: float
    spread: float | None
    n: int
    noisy: bool
    conditions: tuple[Mapping[str, Any], ...]
    environment: str
    openssl: str
    try_seconds: float | None


@dataclass(frozen=True)
class FoundChange:
    """A change at the run `point`, seen against the runs up to `previous`.

    `environment`: what the two runs' documents state differently, the likeliest cause first;
    None for changes older than the latest 50.
    """

    change: Change
    previous: Point
    point: Point
    environment: tuple[Difference, ...] | None


@dataclass(frozen=True)
class FoundBreak:
    """A break of the tool between two runs that follow one another."""

    broken: ToolBreak
    previous: Point
    point: Point


@dataclass(frozen=True)
class History:
    """A host's history of one series, the oldest run first.

    `cut`: there are older runs than the latest 1,000 shown. `undated` runs measured the series
    at a time that nobody knows, `without_value` have none in this metric: neither is a point.
    """

    host_id: int
    host_name: str
    query: HistoryQuery
    unit: str
    profile: str | None
    points: tuple[Point, ...]
    changes: tuple[FoundChange, ...]
    breaks: tuple[FoundBreak, ...]
    cut: bool
    undated: int
    without_value: int


class UnknownHost(LookupError):
    """There is no host of this key."""


def history(query: HistoryQuery) -> History:
    """Return the history that the query asks for; `UnknownHost` where it names none.

    The number of queries is the same for any length of the history.
    """
    host = Host.objects.filter(slug=query.host).first()
    if host is None:
        raise UnknownHost(query.host)
    query = _with_block_size(host.pk, query)
    rows = _rows(host.pk, query)
    points = _points(rows[:LATEST_POINTS], query.series)
    breaks = _breaks(query, points)
    return History(
        host_id=host.pk,
        host_name=host.name,
        query=query,
        unit=UNITS[query.series.metric],
        profile=PROFILE.name if query.series.metric in NEEDS_PROFILE else None,
        points=points,
        changes=_changes(query, points, [one.broken for one in breaks]),
        breaks=breaks,
        cut=len(rows) > LATEST_POINTS,
        undated=_undated(host.pk, query),
        without_value=len(rows[:LATEST_POINTS]) - len(points),
    )


def _series_conditions(query: HistoryQuery) -> Where:
    """Conditions on series (s): those of this history."""
    where = class_conditions(query.series)
    where.add("s.cipher = %s AND s.target_name = %s", query.cipher, query.target_name)
    if query.pinned is not None:
        where.add("s.pinned = %s", query.pinned)
    if query.series.tool == "openssl" and query.series.block_size is not None:
        where.add("s.block_size = %s", query.series.block_size)
    return where


def _run_conditions(host_id: int, query: HistoryQuery) -> Where:
    """Conditions on runs (r) and their environments (e)."""
    where = Where([COUNTED, "r.host_id = %s"], [host_id])
    for name, values in query.series.filters.items():
        if name != "host" and values:
            add_filter(where, name, values, tool=query.series.tool)
    if query.series.since is not None:
        where.add("r.started_at >= %s", query.series.since)
    if query.series.until is not None:
        where.add("r.started_at <= %s", query.series.until)
    return where


def _results(query: HistoryQuery) -> Relation:
    """Of a run (r) its one result of the series, by the index of measurements."""
    series = _series_conditions(query)
    agreed = "true"
    if query.series.tool == "ssh" and query.series.mac is not None:
        agreed = (
            "(s.mac = %s OR m.negotiated_id = ANY(ARRAY("
            "SELECT id FROM runs_negotiated WHERE mac = %s)))"
        )
    macs = [query.series.mac] * agreed.count("%s")
    sql = f"""
        SELECT m.*, s.block_size FROM runs_measurement m JOIN runs_series s ON s.id = m.series_id
        WHERE m.run_id = r.id AND m.series_id = ANY(
            ARRAY(SELECT s.id FROM runs_series s WHERE {series.text})
        ) AND NOT m.implausible AND {agreed}
        ORDER BY s.mac = '', s.pinned, m.series_id LIMIT 1
    """  # noqa: S608 - closed lists
    return Relation(sql, (*series.parameters, *macs))


def _with_block_size(host_id: int, query: HistoryQuery) -> HistoryQuery:
    """For openssl the block size that most of the host's runs have, of several the largest.

    Of its latest runs, that is: those of decades are not counted for it.
    """
    if query.series.tool != "openssl" or query.series.block_size is not None:
        return query
    runs, series = _run_conditions(host_id, query), _series_conditions(query)
    rows = fetch_rows(
        f"""
        SELECT s.block_size FROM (
            SELECT r.id FROM runs_run r JOIN runs_environment e ON e.id = r.environment_id
            WHERE {runs.text} ORDER BY {LATEST_FIRST} LIMIT {COUNTED_RUNS}
        ) r
        JOIN runs_measurement m ON m.run_id = r.id
        JOIN runs_series s ON s.id = m.series_id
        WHERE m.series_id = ANY(ARRAY(SELECT s.id FROM runs_series s WHERE {series.text}))
            AND NOT m.implausible
        GROUP BY s.block_size ORDER BY count(*) DESC, s.block_size DESC LIMIT 1
        """,  # noqa: S608 - closed lists
        [*runs.parameters, *series.parameters],
    )
    return replace(query, series=replace(query.series, block_size=rows[0][0])) if rows else query


# The lateral join has each run's one row of the series looked up by the index, the latest runs
# first and no more of them than are shown, however many there are.
_FROM = """
FROM runs_run r
JOIN runs_environment e ON e.id = r.environment_id
CROSS JOIN LATERAL ({results}) v
"""


def _rows(host_id: int, query: HistoryQuery) -> list[tuple[Any, ...]]:
    """One row for each run that measured the series, the latest first, one more than shown."""
    value, spread = _VALUES[query.series.metric]
    runs, results = _run_conditions(host_id, query), _results(query)
    statement = f"""
        SELECT r.id, r.run_id, r.started_at, {value}, {spread}, v.n, r.conditions, r.environment_id,
            v.try_seconds
        {_FROM.format(results=results.sql)}
        WHERE {runs.text} AND r.started_at IS NOT NULL
        ORDER BY r.started_at DESC, r.id DESC LIMIT {LATEST_POINTS + 1}
    """
    return fetch_rows(statement, [*results.parameters, *runs.parameters])


def _undated(host_id: int, query: HistoryQuery) -> int:
    runs, results = _run_conditions(host_id, query), _results(query)
    rows = fetch_rows(
        f"SELECT count(*) {_FROM.format(results=results.sql)}"
        f" WHERE {runs.text} AND r.started_at IS NULL",
        [*results.parameters, *runs.parameters],
    )
    return int(rows[0][0])


def _divisors(runs: Sequence[int], series: ComparisonQuery) -> dict[int, float]:
    """Run -> the speed index that its rates are divided by; runs without one are absent."""
    stored = RunSpeedIndex.objects.filter(run_id__in=runs, tool=series.tool)
    return dict(stored.values_list("run_id", "index"))


def _normalised(
    rows: Iterable[tuple[Any, ...]], divisors: Mapping[int, float]
) -> Iterator[tuple[Any, ...]]:
    for run, run_id, started_at, value, *rest in rows:
        known = run in divisors and value is not None
        yield run, run_id, started_at, value / divisors[run] if known else None, *rest


def _points(rows: Sequence[tuple[Any, ...]], series: ComparisonQuery) -> tuple[Point, ...]:
    """The rows that have a value, the oldest first; only of a rate the length of tries matters."""
    environments = _environments({row[7] for row in rows})
    if series.metric in NEEDS_PROFILE:
        rows = list(_normalised(rows, _divisors([row[0] for row in rows], series)))
    return tuple(
        Point(
            run_pk=pk,
            run_id=run_id,
            started_at=started_at,
            median=value,
            spread=spread,
            n=n,
            noisy=spread is not None and spread > NOISY_SPREAD and n >= NOISY_MINIMUM_TRIES,
            conditions=tuple(json.loads(conditions)),
            environment=_label(environments[environment], series.tool),
            openssl=environments[environment].library(series.tool).label,
            try_seconds=seconds if series.metric in RATES else None,
        )
        for pk, run_id, started_at, value, spread, n, conditions, environment, seconds in (
            reversed(rows)
        )
        if value is not None and value > 0
    )


def _environments(ids: Iterable[int]) -> Mapping[int, Environment]:
    found = Environment.objects.select_related(
        "openssl", "ssh_library", "openssh", "os_version", "cpu"
    )
    return found.in_bulk(list(ids))


def _label(environment: Environment, tool: str) -> str:
    """ "OpenSSL 3.0.19, OpenSSH 9.2p1, Debian GNU/Linux 12, AMD EPYC 9R14"."""
    return ", ".join(
        value.label
        for value in (
            environment.library(tool),
            environment.openssh,
            environment.os_version,
            environment.cpu,
        )
    )


def _breaks(query: HistoryQuery, points: Sequence[Point]) -> tuple[FoundBreak, ...]:
    if query.series.tool != "openssl":
        return ()
    return tuple(
        FoundBreak(one, points[one.index - 1], points[one.index])
        for one in find_breaks([point.openssl for point in points], query.cipher)
    )


def _changes(
    query: HistoryQuery, points: Sequence[Point], breaks: Sequence[ToolBreak]
) -> tuple[FoundChange, ...]:
    found = changes_between_breaks(
        [point.median for point in points],
        breaks,
        seconds=[point.try_seconds for point in points],
        lower_is_better=query.series.metric in LOWER_IS_BETTER,
    )
    tool = query.series.tool
    pairs = [(change, points[change.index - 1], points[change.index]) for change in found]
    explained = pairs[-EXPLAINED_CHANGES:]
    run_pks = {point.run_pk for _, *both in explained for point in both}
    documents = RunDocument.objects.in_bulk(run_pks)
    stated = {pk: document.environment for pk, document in documents.items()}
    return tuple(
        FoundChange(change, previous, point, _differences(stated, previous, point, tool))
        for change, previous, point in pairs
    )


def _differences(
    stated: Mapping[int, Mapping[str, Any]], previous: Point, point: Point, tool: str
) -> tuple[Difference, ...] | None:
    if previous.run_pk not in stated or point.run_pk not in stated:
        return None
    return environment_difference(stated[previous.run_pk], stated[point.run_pk], tool=tool)
