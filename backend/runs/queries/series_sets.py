"""What was measured in some time, by the sets of series that runs have results of.

A fleet has thousands of runs and a handful of such sets. That a machine has a result in some time
is so when any of its runs of that time has it, the latest or not, so no measurement need be read
but those of one run for each set.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from runs.queries.machine_results import Relation
from runs.queries.selection import (
    COUNTED,
    ComparisonQuery,
    Where,
    grouping,
    machine_conditions,
)
from runs.queries.statements import LATEST_FIRST, fetch_rows

Key = tuple[Any, ...]

_RUNS = """
FROM runs_run r
CROSS JOIN LATERAL (SELECT r.host_id, r.environment_id, r.source, r.tags) k
JOIN runs_environment e ON e.id = r.environment_id
"""
"""Runs (r), what they say of their machines (k), and environments (e)."""


@dataclass(frozen=True)
class SeriesSets:
    """For each key the sets that its runs have, and the ids of the series of each set."""

    sets_of: Mapping[Key, frozenset[UUID]]
    series: Mapping[UUID, frozenset[int]]

    def measured(self) -> Iterator[tuple[frozenset[int], int]]:
        """The ids of series that a key has results of, and how many keys have just these sets."""
        for sets, keys in Counter(self.sets_of.values()).items():
            yield frozenset().union(*(self.series[one] for one in sets)), keys


def told_by_sets(query: ComparisonQuery) -> bool:
    """Whether `series_sets` tells what the query's machines have results of, and is the way to it.

    Without dates it is read from their latest results, of which there are no more in the course
    of the years.
    """
    dated = query.since is not None or query.until is not None
    return dated and not query.asks_of_latest


def series_sets(query: ComparisonQuery, *columns: str) -> SeriesSets:
    """Of the runs that the query's filters and dates let through, by these columns.

    `columns` are SQL, of machines (k) or environments (e).
    """
    where, keys = _conditions(query), ", ".join((*columns, "r.series_set"))
    rows = fetch_rows(
        f"SELECT {keys}, max(r.id) {_RUNS} WHERE {where.text} GROUP BY {keys}",
        where.parameters,
    )
    sets: defaultdict[Key, set[UUID]] = defaultdict(set)
    examples: dict[UUID, int] = {}
    for *key, one, run in rows:
        sets[tuple(key)].add(one)
        examples[one] = run
    return SeriesSets({key: frozenset(found) for key, found in sets.items()}, _series_of(examples))


def latest_series(
    query: ComparisonQuery, column: str, parameters: Sequence[Any] = ()
) -> dict[tuple[Any, int], frozenset[int]]:
    """The (column, machine) of runs that have latest results, with the series of these.

    A machine's run has the latest result of each of its series that no later run has one of.
    `column` is SQL, of runs (r), machines (k) or environments (e).
    """
    where = _conditions(query)
    rows = fetch_rows(
        f"""
        SELECT machine, value, series_set, id FROM (
            SELECT DISTINCT ON (k.id, r.series_set)
                k.id AS machine, {column} AS value, r.series_set, r.id, r.started_at
            FROM runs_run r JOIN runs_environment e ON e.id = r.environment_id
            JOIN runs_machine k ON (k.host_id, k.environment_id, k.source, k.tags_digest)
                = (r.host_id, r.environment_id, r.source, md5(r.tags::text))
            WHERE {where.text} ORDER BY k.id, r.series_set, {LATEST_FIRST}
        ) r ORDER BY machine, {LATEST_FIRST}
        """,  # noqa: S608 - closed lists
        [*parameters, *where.parameters],
    )
    series = _series_of({one: run for _, _, one, run in rows})
    found: dict[tuple[Any, int], frozenset[int]] = {}
    for machine, runs in groupby(rows, itemgetter(0)):
        later: frozenset[int] = frozenset()
        for _, value, one, _ in runs:
            latest = series[one] - later if later else series[one]
            known = found.get((value, machine))
            found[value, machine] = latest if known is None else known | latest
            later |= series[one]
    return found


def groups_of_latest_runs(query: ComparisonQuery, series: Collection[int]) -> Relation:
    """(g, hosts): each machine in the group of its latest run that has a result of these series."""
    found = series_sets(query).series
    where, group = _conditions(query), grouping(query.group_by)
    where.add(
        "r.series_set = ANY(%s::uuid[])",
        [one for one, measured in found.items() if not measured.isdisjoint(series)],
    )
    sql = f"""
        SELECT g, count(*)::int FROM (
            SELECT DISTINCT ON (r.host_id, r.environment_id) {group.key} AS g {_RUNS}
            WHERE {where.text} ORDER BY r.host_id, r.environment_id, {LATEST_FIRST}
        ) machines GROUP BY g
    """  # noqa: S608 - closed lists
    return Relation(sql, (*group.parameters, *where.parameters))


def _conditions(query: ComparisonQuery) -> Where:
    """Conditions on runs (r), their machines (k) and environments (e)."""
    where = machine_conditions(query)
    where.add(f"{COUNTED} AND r.series_set IS NOT NULL")
    if query.since is not None:
        where.add("r.started_at >= %s", query.since)
    if query.until is not None:
        where.add("r.started_at <= %s", query.until)
    return where


def _series_of(examples: Mapping[UUID, int]) -> dict[UUID, frozenset[int]]:
    rows = fetch_rows(
        "SELECT run_id, array_agg(series_id) FROM runs_measurement"
        " WHERE run_id = ANY(%s) AND median IS NOT NULL GROUP BY run_id",
        [list(examples.values())],
    )
    found = {run: frozenset(series) for run, series in rows}
    return {one: found.get(run, frozenset()) for one, run in examples.items()}
