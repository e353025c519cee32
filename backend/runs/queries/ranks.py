"""Where values stand among those of all hosts, counted in sorted rollups instead of in rows."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from analysis.percentile import Standing, standing_of_counts
from runs.models import Rollup
from runs.queries.latest import LatestResult
from runs.queries.machine_results import LATEST_FIRST, SeriesTable, Slot, class_series
from runs.queries.rolled_up import class_of, query_of
from runs.queries.selection import ComparisonQuery
from runs.queries.statements import fetch_rows
from runs.rollups import Made, Question, maker, stored_rollup

_VOTES = f"""
SELECT DISTINCT ON (s.slot, k.host_id) s.slot, l.median
FROM runs_latest l
JOIN {{series}} ON s.id = l.series_id
JOIN runs_machine k ON k.id = l.machine_id
WHERE l.series_id = ANY(%s) AND {{hosts}}
ORDER BY s.slot, k.host_id, {LATEST_FIRST}, s.place
"""  # noqa: S608 - constants
"""One vote a host on each slot, of its latest run."""


@maker("ranks")
def _make_ranks(question: Question) -> Made:
    series = class_series(query_of(question))
    votes = _VOTES.format(series=series.table.sql, hosts="true")
    rows = fetch_rows(
        f"SELECT slot, array_agg(median ORDER BY median) FROM ({votes}) v GROUP BY slot",  # noqa: S608
        [*series.table.parameters, list(series.ids)],
    )
    body = {"slots": [[slot.cipher, slot.block_size] for slot in series.slots]}
    return Made(body, {slot: [] for slot, _ in rows}, dict(rows))


def standings_by_rollup(
    host_id: int, results: Iterable[LatestResult]
) -> dict[LatestResult, Standing | None]:
    """The standing of each result among all other hosts; every result is a comparable one."""
    members: defaultdict[tuple[str, str], list[LatestResult]] = defaultdict(list)
    for one in results:
        members[one.detail.tool, one.detail.method].append(one)
    known: dict[LatestResult, Standing | None] = {}
    for (tool, method), of_class in members.items():
        known |= _of_class(host_id, ComparisonQuery(tool=tool, method=method), of_class)
    return known


def _of_class(
    host_id: int, query: ComparisonQuery, results: Sequence[LatestResult]
) -> dict[LatestResult, Standing | None]:
    stored = stored_rollup("ranks", class_of(query))
    places = {Slot(*slot): place for place, slot in enumerate(stored.body["slots"])}
    slots = [places.get(Slot(one.detail.cipher, one.detail.block_size), -1) for one in results]
    counts, own = _counts(stored, slots, results), _own_votes(host_id, query)
    return {
        one: _standing(one.detail.median or 0.0, counts.get(number), own.get(slot))
        for number, (one, slot) in enumerate(zip(results, slots, strict=True))
    }


def _counts(
    stored: Rollup, slots: Sequence[int], results: Sequence[LatestResult]
) -> dict[int, tuple[int, int, int]]:
    """Number of the result -> hosts with less, with no more, and all, its own one with them."""
    values = [one.detail.median or 0.0 for one in results]
    rows = fetch_rows(
        """
        SELECT mine.number, width_bucket(mine.less, s.ranks), width_bucket(mine.value, s.ranks),
            cardinality(s.ranks)
        FROM unnest(%s::int[], %s::int[], %s::float8[], %s::float8[])
            AS mine (number, slot, less, value)
        JOIN runs_rollupslot s ON s.rollup_id = %s AND s.version = %s AND s.slot = mine.slot
        """,
        [
            list(range(len(values))),
            list(slots),
            [math.nextafter(value, -math.inf) for value in values],
            values,
            stored.pk,
            stored.version,
        ],
    )
    return {number: (less, up_to, every) for number, less, up_to, every in rows}


def _own_votes(host_id: int, query: ComparisonQuery) -> dict[int, float]:
    """Slot -> the host's own value among those that are ranked."""
    series: SeriesTable = class_series(query)
    hosts = "k.id = ANY(ARRAY(SELECT id FROM runs_machine WHERE host_id = %s))"
    parameters: list[Any] = [*series.table.parameters, list(series.ids), host_id]
    return dict(fetch_rows(_VOTES.format(series=series.table.sql, hosts=hosts), parameters))


def _standing(
    value: float, counts: tuple[int, int, int] | None, own: float | None
) -> Standing | None:
    """Among the others: the host's own value, wherever it lies, is taken out of the counts."""
    if counts is None:
        return None
    less, up_to, every = counts
    if own is not None:
        less -= own < value
        up_to -= own <= value
        every -= 1
    return standing_of_counts(less, up_to - less, every)
