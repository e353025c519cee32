"""Which block size a comparison of openssl is made at."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from runs.queries.machine_results import Relation, SeriesTable, results_of_machine
from runs.queries.selection import (
    ComparisonQuery,
    grouping,
    machine_conditions,
    result_conditions,
)
from runs.queries.series_sets import latest_series, places, told_by_sets
from runs.queries.statements import array, fetch_rows


def common_block_size(query: ComparisonQuery, series: SeriesTable) -> int | None:
    """The largest block size that all groups have; failing that, the one that most have."""
    blocks = [series.slots[slot].block_size or 0 for slot in series.slot_of]
    if not blocks:
        return None
    group, machines = grouping(query.group_by, query.tool), machine_conditions(query)
    if told_by_sets(query) or (group.of_run and not query.asks_of_latest):
        return _by_sets(query, series.ids, blocks)
    results = results_of_machine(Relation("blocks.ids"), query.until)
    dates = result_conditions(query)
    run, one = ("JOIN runs_run r ON r.id = x.run_id", "") if group.reads_run else ("", "LIMIT 1")
    # By machine and block size one result is looked up, instead of reading all of them.
    statement = f"""
        SELECT x.block FROM runs_machine k
        JOIN runs_environment e ON e.id = k.environment_id
        CROSS JOIN (
            SELECT block, array_agg(id) AS ids FROM unnest(%s::int[], %s::int[]) AS b (id, block)
            GROUP BY block
        ) blocks
        CROSS JOIN LATERAL (
            SELECT blocks.block, l.run_id FROM {results.sql}
            WHERE l.machine_id = k.id AND l.series_id = ANY(blocks.ids) AND {dates.text} {one}
        ) x {run}
        WHERE {machines.text}
        GROUP BY x.block ORDER BY count(DISTINCT {group.key}) DESC, x.block DESC LIMIT 1
    """  # noqa: S608 - closed lists
    rows = fetch_rows(
        statement,
        [
            array(series.ids),
            array(blocks),
            *results.parameters,
            *dates.parameters,
            *machines.parameters,
            *group.parameters,
        ],
    )
    return rows[0][0] if rows else None


def _by_sets(query: ComparisonQuery, ids: Sequence[int], blocks: Sequence[int]) -> int | None:
    """The same of a query that sets of series tell enough of."""
    group = grouping(query.group_by, query.tool)
    found = latest_series(query, ids, group.key, group.parameters)
    groups: defaultdict[int, set[Any]] = defaultdict(set)
    for value, mask in {(value, mask) for (value, _), mask in found.items()}:
        for place in places(mask):
            groups[blocks[place]].add(value)
    return max(groups, key=lambda block: (len(groups[block]), block), default=None)
