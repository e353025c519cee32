"""What was measured in some time, by the sets of series that runs have results of.

A fleet has thousands of runs and a handful of such sets. That a machine has a result in some time
is so when any of its runs of that time has it, the latest or not, so no measurement need be read
but those of one run for each set.

Of the series that a caller asks about, those of a set are a number, its mask: bit i for the i-th.
Even where each run has a set of its own, that takes no more than a few bytes for each.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
from runs.queries.statements import LATEST_FIRST, array, fetch_rows

Key = tuple[Any, ...]

_RUNS = """
FROM runs_run r
CROSS JOIN LATERAL (SELECT r.host_id, r.environment_id, r.source, r.tags) k
JOIN runs_environment e ON e.id = r.environment_id
"""
"""Runs (r), what they say of their machines (k), and environments (e)."""


@dataclass(frozen=True)
class SeriesSets:
    """For each key the mask of all series that its runs have, and for each set its own."""

    measured: Mapping[Key, int]
    masks: Mapping[UUID, int]


def places(mask: int) -> Iterator[int]:
    """Which series are in a mask."""
    return (place for place in range(mask.bit_length()) if mask >> place & 1)


def told_by_sets(query: ComparisonQuery) -> bool:
    """Whether `series_sets` tells what the query's machines have results of, and is the way to it.

    Without dates it is read from their latest results, of which there are no more in the course
    of the years.
    """
    dated = query.since is not None or query.until is not None
    return dated and not query.asks_of_latest


def series_sets(query: ComparisonQuery, series: Sequence[int], *columns: str) -> SeriesSets:
    """What of `series` (ids) runs measured that the query's filters and dates let through.

    `columns`, which make the keys, are SQL, of machines (k) or environments (e).
    """
    where, keys = _conditions(query), ", ".join((*columns, "r.series_set"))
    rows = fetch_rows(
        f"SELECT {keys}, max(r.id) {_RUNS} WHERE {where.text} GROUP BY {keys}",
        where.parameters,
    )
    masks = _masks({row[-2]: row[-1] for row in rows}, series)
    measured: defaultdict[Key, int] = defaultdict(int)
    for *key, one, _ in rows:
        measured[tuple(key)] |= masks[one]
    return SeriesSets(measured, masks)


def latest_series(
    query: ComparisonQuery, series: Sequence[int], column: str, parameters: Sequence[Any] = ()
) -> dict[tuple[Any, int], int]:
    """The (column, machine) of runs that have latest results of `series`, with the mask of these.

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
    masks = _masks({one: run for _, _, one, run in rows}, series)
    found: defaultdict[tuple[Any, int], int] = defaultdict(int)
    for machine, runs in groupby(rows, itemgetter(0)):
        later = 0
        for _, value, one, _ in runs:
            if latest := masks[one] & ~later:
                found[value, machine] |= latest
            later |= masks[one]
    return found


def groups_of_latest_runs(query: ComparisonQuery, series: Sequence[int]) -> Relation:
    """(g, hosts): each machine in the group of its latest run that has a result of these series."""
    masks = series_sets(query, series).masks
    where, group = _conditions(query), grouping(query.group_by)
    where.add("r.series_set = ANY(%s::uuid[])", [one for one, mask in masks.items() if mask])
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


def _masks(examples: Mapping[UUID, int], series: Sequence[int]) -> dict[UUID, int]:
    """The mask of each set, by a run that has it."""
    rows = fetch_rows(
        """
        SELECT m.run_id, array_agg(s.place) FROM runs_measurement m
        JOIN unnest(%s::int[]) WITH ORDINALITY s (id, place) ON s.id = m.series_id
        WHERE m.run_id = ANY(%s::bigint[]) AND m.median IS NOT NULL GROUP BY m.run_id
        """,
        [array(series), array(examples.values())],
    )
    masks = {run: sum(1 << place - 1 for place in found) for run, found in rows}
    return {one: masks.get(run, 0) for one, run in examples.items()}
