"""Which block size a comparison of openssl is made at."""

from runs.queries.machine_results import Relation, SeriesTable, machine_results
from runs.queries.selection import (
    COUNTED,
    OF_RESULTS,
    ComparisonQuery,
    Grouping,
    grouping,
    machine_conditions,
    result_conditions,
)
from runs.queries.statements import fetch_rows

_BLOCKS = """(
    SELECT block, array_agg(id) AS ids FROM unnest(%s::int[], %s::int[]) AS b (id, block)
    GROUP BY block
) blocks"""
"""The series of each block size; parameters: ids of series and, of each, its block size."""

_RUN = "JOIN runs_run r ON r.id = x.run_id"


def common_block_size(query: ComparisonQuery, series: SeriesTable) -> int | None:
    """The largest block size that all groups have; failing that, the one that most have."""
    blocks = [series.slots[slot].block_size or 0 for slot in series.slot_of]
    if not blocks:
        return None
    group, machines = grouping(query.group_by), machine_conditions(query)
    measured = _measured(query, series, blocks, group)
    statement = f"""
        SELECT x.block FROM runs_machine k
        JOIN runs_environment e ON e.id = k.environment_id {measured.sql}
        WHERE {machines.text}
        GROUP BY x.block ORDER BY count(DISTINCT {group.key}) DESC, x.block DESC LIMIT 1
    """  # noqa: S608 - closed lists
    rows = fetch_rows(statement, [*measured.parameters, *machines.parameters, *group.parameters])
    return rows[0][0] if rows else None


def _measured(
    query: ComparisonQuery, series: SeriesTable, blocks: list[int], group: Grouping
) -> Relation:
    """Joins to machines (k): the block sizes that each measured (x), with its run (r) if need be.

    Reads as little as the question allows, which for all results of ten thousand machines up to
    some moment makes the difference between one second and several.
    """
    if query.until is None:
        return _now(query, series, blocks, group)
    if group.reads_run or any(query.filters.get(name) for name in OF_RESULTS):
        return _latest_then(query, series, blocks, group)
    return _ever_until(query, series, blocks)


def _now(
    query: ComparisonQuery, series: SeriesTable, blocks: list[int], group: Grouping
) -> Relation:
    """One of each machine's latest results of a block size; where runs matter, all of them."""
    dates = result_conditions(query)
    run, one = (_RUN, "") if group.reads_run else ("", "LIMIT 1")
    sql = f"""
        CROSS JOIN {_BLOCKS} CROSS JOIN LATERAL (
            SELECT blocks.block, l.run_id FROM runs_latest l
            WHERE l.machine_id = k.id AND l.series_id = ANY(blocks.ids) AND {dates.text} {one}
        ) x {run}
    """  # noqa: S608 - closed lists
    return Relation(sql, (list(series.ids), blocks, *dates.parameters))


def _ever_until(query: ComparisonQuery, series: SeriesTable, blocks: list[int]) -> Relation:
    """Any result up to the moment: a machine that has one has a latest one.

    No older than `since`, too: the latest is not if any is not.
    """
    sql = f"""
        CROSS JOIN {_BLOCKS} CROSS JOIN LATERAL (
            SELECT blocks.block FROM runs_run r CROSS JOIN LATERAL (
                SELECT FROM runs_measurement m
                WHERE m.run_id = r.id AND m.series_id = ANY(blocks.ids) AND m.median IS NOT NULL
                LIMIT 1
            ) m
            WHERE r.host_id = k.host_id AND r.environment_id = k.environment_id
                AND r.source = k.source AND r.tags = k.tags AND {COUNTED}
                AND r.started_at <= %s AND r.started_at >= coalesce(%s, '-infinity'::timestamptz)
            LIMIT 1
        ) x
    """  # noqa: S608 - closed lists
    return Relation(sql, (list(series.ids), blocks, query.until, query.since))


def _latest_then(
    query: ComparisonQuery, series: SeriesTable, blocks: list[int], group: Grouping
) -> Relation:
    """All results that were the latest at the moment."""
    results, dates = machine_results(series.array, query.until), result_conditions(query)
    sql = f"""
        JOIN (
            SELECT l.machine_id, l.run_id, b.block FROM {results.sql}
            JOIN unnest(%s::int[], %s::int[]) AS b (id, block) ON b.id = l.series_id
            WHERE {dates.text}
        ) x ON x.machine_id = k.id {_RUN if group.reads_run else ""}
    """  # noqa: S608 - closed lists
    return Relation(sql, (*results.parameters, list(series.ids), blocks, *dates.parameters))
