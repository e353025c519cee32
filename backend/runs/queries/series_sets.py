"""What machines measured up to a moment, by the sets of series that their runs have results of.

A fleet has thousands of runs and a handful of such sets. That a machine has a result up to then
is so when any of its runs has it, the latest or not, so no measurement need be read but those of
one run for each set. Now it is told by the runs that latest results come from, of which there are
no more in the course of the years.

Of the series that a caller asks about, those of a set are a number, its mask: bit i for the i-th.
Even where each run has a set of its own, that takes no more than a few bytes for each.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from runs.models.run import COUNTED
from runs.queries.machine_results import OF_MACHINE, SERIES_SET, Relation
from runs.queries.selection import (
    ComparisonQuery,
    grouping,
    machine_conditions,
    voting_environment,
)
from runs.queries.statements import LATEST_FIRST, array, fetch_rows


def told_by_sets(query: ComparisonQuery) -> bool:
    """Whether results need not be looked for to know what the query's machines measured.

    Now they are there, by machine; only up to a moment of the past they would have to be found.
    """
    return query.until is not None and not query.asks_of_latest


def places(mask: int) -> Iterator[int]:
    """Which series are in a mask."""
    return (place for place in range(mask.bit_length()) if mask >> place & 1)


def measured_by_pairs(query: ComparisonQuery, series: Sequence[int]) -> list[int]:
    """For each (host, environment) the mask of those of `series` (ids) that its runs measured."""
    pair = f"k.host_id, {voting_environment(query.tool)} AS environment_id"
    runs = _runs(query, series, pair)
    rows, masks = _told(
        f"""{runs.sql}
        SELECT NULL::bigint[], series_set, host_id, environment_id FROM runs GROUP BY 2, 3, 4
        UNION ALL SELECT places, series_set, NULL, NULL FROM sets
        """,  # noqa: S608 - closed lists
        runs.parameters,
    )
    measured: defaultdict[tuple[int, int], int] = defaultdict(int)
    for _, one, host, environment in rows:
        measured[host, environment] |= masks.get(one, 0)
    return list(measured.values())


def latest_series(
    query: ComparisonQuery, series: Sequence[int], column: str, parameters: Sequence[Any] = ()
) -> dict[tuple[Any, int], int]:
    """The (column, machine) of runs that have latest results of `series`, with the mask of these.

    A machine's run has the latest result of each of its series that no later run has one of.
    `column` is SQL, of runs (r), machines (k) or environments (e).
    """
    runs = _runs(query, series, f"k.id AS machine, {column} AS value", parameters)
    rows, masks = _told(
        f"""{runs.sql}
        SELECT * FROM (
            SELECT DISTINCT ON (machine, series_set)
                NULL::bigint[] AS places, series_set, machine, value, started_at, id
            FROM runs r ORDER BY machine, series_set, {LATEST_FIRST}
        ) latest
        UNION ALL SELECT places, series_set, NULL, NULL, NULL, NULL FROM sets
        ORDER BY machine, started_at DESC NULLS LAST, id DESC
        """,  # noqa: S608 - closed lists
        runs.parameters,
    )
    found: defaultdict[tuple[Any, int], int] = defaultdict(int)
    for machine, of_machine in groupby(rows, itemgetter(2)):
        later = 0
        for _, one, _, value, *_ in of_machine:
            mask = masks.get(one, 0)
            if mask & ~later:
                found[value, machine] |= mask & ~later
            later |= mask
    return found


def groups_of_latest_runs(query: ComparisonQuery, series: Sequence[int]) -> Relation:
    """(g, hosts): each machine in the group of its latest run that has a result of these series."""
    group = grouping(query.group_by, query.tool)
    pair = f"k.host_id, {voting_environment(query.tool)} AS environment_id"
    columns = f"{pair}, {group.key} AS g"
    runs = _runs(query, series, columns, group.parameters)
    sql = f"""
        SELECT g, count(*)::int FROM (
            {runs.sql}
            SELECT DISTINCT ON (host_id, environment_id) g FROM runs r JOIN sets USING (series_set)
            ORDER BY host_id, environment_id, {LATEST_FIRST}
        ) machines GROUP BY g
    """  # noqa: S608 - closed lists
    return Relation(sql, runs.parameters)


def _runs(
    query: ComparisonQuery, series: Sequence[int], columns: str, parameters: Iterable[Any] = ()
) -> Relation:
    """WITH `runs` (these columns, series_set, id, started_at) and `sets` (series_set, places).

    `runs` are those that the query's filters and dates let through, `places` (from 1) those of
    `series` that a set has, told by one of its runs. Sets with none of them are not there.
    """
    chosen = _till(query) if query.until is not None else _of_latest(query, series)
    sql = f"""
        WITH runs AS MATERIALIZED (
            SELECT {columns}, {SERIES_SET} AS series_set, r.id, r.started_at {chosen.sql}
        ), sets AS MATERIALIZED (
            SELECT one.series_set, array_agg(s.place) AS places
            FROM (SELECT series_set, max(id) AS id FROM runs GROUP BY series_set) one
            JOIN runs_measurement m ON m.run_id = one.id AND m.median IS NOT NULL
            JOIN unnest(%s::int[]) WITH ORDINALITY s (id, place) ON s.id = m.series_id
            GROUP BY one.series_set
        )
    """  # noqa: S608 - closed lists
    return Relation(sql, (*parameters, *chosen.parameters, array(series)))


def _till(query: ComparisonQuery) -> Relation:
    """FROM and WHERE of the runs (r) of the query's time, their machines (k), environments (e)."""
    where = machine_conditions(query)
    where.add(f"{COUNTED} AND r.started_at <= %s", query.until)
    if query.since is not None:
        where.add("r.started_at >= %s", query.since)
    sql = f"""
        FROM runs_run r JOIN runs_environment e ON e.id = r.environment_id
        JOIN runs_machine k ON {OF_MACHINE}
        WHERE {where.text}
    """
    return Relation(sql, tuple(where.parameters))


def _of_latest(query: ComparisonQuery, series: Sequence[int]) -> Relation:
    """The same of the runs that latest results of these series come from."""
    where = machine_conditions(query)
    machines = """
        JOIN runs_machine k ON k.id = l.machine_id
        JOIN runs_environment e ON e.id = k.environment_id
    """
    narrowing = machines if any(query.filters.values()) else ""
    where.add("l.series_id = ANY(%s::int[])", array(series))
    if query.since is not None:
        where.add("l.started_at >= %s", query.since)
    sql = f"""
        FROM (
            SELECT DISTINCT l.machine_id, l.run_id FROM runs_latest l {narrowing}
            WHERE {where.text}
        ) l {machines}
        JOIN runs_run r ON r.id = l.run_id
    """  # noqa: S608 - closed lists
    return Relation(sql, tuple(where.parameters))


def _told(
    statement: str, parameters: Sequence[Any]
) -> tuple[list[tuple[Any, ...]], Mapping[UUID, int]]:
    """The rows of runs, without places, and of those with places the masks: set -> mask.

    Both of one statement, so that no example is deleted between them. Columns: places, series_set,
    and what is asked of runs.
    """
    runs, masks = [], {}
    for row in fetch_rows(statement, parameters):
        if row[0] is None:
            runs.append(row)
        else:
            masks[row[1]] = sum(1 << place - 1 for place in row[0])
    return runs, masks
