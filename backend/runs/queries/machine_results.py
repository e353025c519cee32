"""What machines measured last, now or up to a moment: the rows that comparisons are made of.

No statement here reads all measurements: now is `runs_latest`; up to a moment is that too where
a machine has measured nothing since, and else a look back by the index of its host's runs.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from runs.analytics.quality_flags import DOUBTS
from runs.models.run import COUNTED
from runs.queries.selection import ComparisonQuery, class_conditions
from runs.queries.statements import Relation, array, fetch_prepared

LATEST_FIRST = "l.started_at DESC NULLS LAST, l.run_id DESC"
"""A run of unknown date is never the latest; of one moment the one stored later counts."""

COLUMNS = """machine_id, series_id, run_id, started_at, negotiated_id, median, cpu_seconds_per_gb,
    cpu_bound_throughput, doubts"""
"""Of `runs_latest`."""

RESULT = f"""m.series_id, r.id, r.started_at, m.negotiated_id, m.median, m.cpu_seconds_per_gb,
    m.cpu_bound_throughput, {DOUBTS}"""
"""What these are, after the machine, of a measurement (m) in a run (r)."""

SERIES_SET = "coalesce(r.series_set, md5(r.id::text)::uuid)"
"""Of a run (r): one that was told none, by an older program, has a set of its own."""

OF_MACHINE = """(k.host_id, k.environment_id, k.source, k.tags_digest)
    = (r.host_id, r.environment_id, r.source, md5(r.tags::text))"""
"""That a run (r) is of a machine (k), for joins of many; of one machine `_RUNS_TILL` says it."""

_RUNS_TILL = f"""
    r.host_id = k.host_id AND r.environment_id = k.environment_id
    AND r.source = k.source AND r.tags = k.tags
    AND {COUNTED} AND r.started_at <= %s
"""
"""The runs (r) of a machine (k) up to a moment; parameter: until."""

_MEASURED = """(
    SELECT * FROM runs_measurement m
    WHERE m.run_id = r.id AND m.series_id = ANY({series}) AND m.median IS NOT NULL
)"""
"""What a run (r) has of these series; parameter: series."""

_LOOK_BACK = f"""(
    SELECT DISTINCT ON (m.series_id) k.id, {RESULT}
    FROM (
        SELECT DISTINCT ON ({SERIES_SET}) r.id, r.started_at, r.conditions
        FROM runs_run r WHERE {_RUNS_TILL}
        ORDER BY {SERIES_SET}, r.started_at DESC, r.id DESC
    ) r CROSS JOIN LATERAL {_MEASURED} m
    ORDER BY m.series_id, r.started_at DESC, r.id DESC
)"""  # noqa: S608 - constants
"""Of one machine (k): of its runs the last one with each set of series, and of that the few rows
by the key. An earlier run with the same set has nothing later than it. Parameters: until, series.
"""

_PAST = f"""(
    WITH later AS MATERIALIZED (
        SELECT DISTINCT machine_id FROM runs_latest
        WHERE started_at > %s AND series_id = ANY({{series}})
    )
    SELECT {COLUMNS} FROM runs_latest
    WHERE started_at <= %s AND series_id = ANY({{series}})
        AND machine_id NOT IN (SELECT machine_id FROM later)
    UNION ALL
    SELECT past.* FROM later
    JOIN runs_machine k ON k.id = later.machine_id
    CROSS JOIN LATERAL {_LOOK_BACK} past ({COLUMNS})
)"""  # noqa: S608 - constants
"""Of all machines; only those that measured later are looked back at one by one.

Parameters: until and series, three times.
"""


@dataclass(frozen=True)
class Slot:
    """What one machine has one vote on: a cipher and, of openssl, a block size."""

    cipher: str
    block_size: int | None

    def is_in(self, query: ComparisonQuery) -> bool:
        """Whether the query asks for this cipher and, of openssl, for this block size."""
        return (not query.ciphers or self.cipher in query.ciphers) and (
            query.tool != "openssl" or query.block_size in (None, self.block_size)
        )


@dataclass(frozen=True)
class SeriesTable:
    """The stored series that a query asks for, the one that votes first where there are several.

    `slot_of` gives for each of `ids` the place of its slot in `slots`; `asked` whether the
    query's MAC is the one that was asked for.
    """

    ids: tuple[int, ...]
    slot_of: tuple[int, ...]
    asked: tuple[bool, ...]
    slots: tuple[Slot, ...]

    @property
    def table(self) -> Relation:
        """A table s (id, slot, asked, place)."""
        return Relation(
            "unnest(%s::int[], %s::int[], %s::bool[])"
            " WITH ORDINALITY AS s (id, slot, asked, place)",
            (self._ids, array(self.slot_of), array(self.asked)),
        )

    @property
    def array(self) -> Relation:
        """The ids as an array."""
        return Relation("%s::int[]", (self._ids,))

    @cached_property
    def _ids(self) -> str:
        return array(self.ids)

    def choice(self, query: ComparisonQuery) -> "SeriesTable":
        """Only the series of the query's ciphers and block size, in the same slots."""
        return self._of(
            [place for place, slot in enumerate(self.slot_of) if self.slots[slot].is_in(query)]
        )

    def without(self, other: "SeriesTable") -> "SeriesTable":
        """The series that are not in `other`, in the same slots."""
        left = frozenset(other.ids)
        return self._of([place for place, pk in enumerate(self.ids) if pk not in left])

    def _of(self, places: list[int]) -> "SeriesTable":
        return replace(
            self,
            ids=tuple(self.ids[place] for place in places),
            slot_of=tuple(self.slot_of[place] for place in places),
            asked=tuple(self.asked[place] for place in places),
        )

    @property
    def used_slots(self) -> list[int]:
        """The places of the slots that these series are of."""
        return sorted(set(self.slot_of))


def class_series(query: ComparisonQuery) -> SeriesTable:
    """All series that the query asks for whatever their ciphers and block sizes."""
    where = class_conditions(query)
    rows = fetch_prepared(
        f"SELECT s.id, s.cipher, s.block_size, s.mac FROM runs_series s WHERE {where.text}"  # noqa: S608
        " ORDER BY s.cipher, s.block_size, s.pinned, s.target_name, s.id",
        where.parameters,
    )
    slots = [Slot(cipher, block_size) for _, cipher, block_size, _ in rows]
    places = {slot: place for place, slot in enumerate(dict.fromkeys(slots))}
    return SeriesTable(
        ids=tuple(row[0] for row in rows),
        slot_of=tuple(places[slot] for slot in slots),
        asked=tuple(row[3] == (query.mac or "") for row in rows),
        slots=tuple(places),
    )


def machine_results(series: Relation, until: datetime | None) -> Relation:
    """A table l like `runs_latest`: what was the latest at the moment `until`, or is it now.

    `series` is an array of their ids; the caller still has to ask for them.
    """
    if until is None:
        return Relation("runs_latest l")
    return Relation(f"{_PAST.format(series=series.sql)} l", (until, *series.parameters) * 3)


def results_of_machine(series: Relation, until: datetime | None) -> Relation:
    """The same of one machine (k), for subqueries that are asked for each.

    Up to a moment it looks back by itself: inside of a subquery `machine_results` would find all
    machines anew for every one. The caller still asks for machine and series.
    """
    if until is None:
        return Relation("runs_latest l")
    sql = f"{_LOOK_BACK.format(series=series.sql)} l ({COLUMNS})"
    return Relation(sql, (until, *series.parameters))
