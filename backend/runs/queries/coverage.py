"""Which ciphers and block sizes were measured under a query's filters, and by how many machines."""

from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from runs.queries.machine_results import SeriesTable, Slot, class_series
from runs.queries.rolled_up import class_of, is_unfiltered, query_of
from runs.queries.selection import ComparisonQuery, voting_environment
from runs.queries.series_sets import measured_by_pairs, places, told_by_sets
from runs.queries.statements import fetch_rows
from runs.queries.votes import results_of_query
from runs.rollups import Made, Question, maker, rollup


@dataclass(frozen=True)
class CipherCount:
    """A cipher and how many (host, environment) pairs measured it."""

    cipher: str
    machines: int


@dataclass(frozen=True)
class Coverage:
    """Which slots were measured together, and by how many (host, environment) pairs.

    The same whichever ciphers and block size a query asks for: read it once for all of them.
    """

    slots: tuple[Slot, ...]
    patterns: Sequence[tuple[Sequence[int], int]]

    @cached_property
    def ciphers(self) -> tuple[CipherCount, ...]:
        """The measured ciphers, the most widely measured first."""
        places: defaultdict[str, set[int]] = defaultdict(set)
        for place, slot in enumerate(self.slots):
            places[slot.cipher].add(place)
        counts = [CipherCount(cipher, self._machines(slots)) for cipher, slots in places.items()]
        measured = (one for one in counts if one.machines)
        return tuple(sorted(measured, key=lambda one: (-one.machines, one.cipher)))

    @property
    def block_sizes(self) -> tuple[int, ...]:
        """The block sizes measured by openssl, ascending; none for ssh."""
        measured = {slot for slots, _ in self.patterns for slot in slots}
        sizes = {self.slots[slot].block_size for slot in measured}
        return tuple(sorted(size for size in sizes if size is not None))

    def machines(self, query: ComparisonQuery) -> int:
        """How many (host, environment) pairs measured any of the query's ciphers, at its size."""
        return self._machines({place for place, slot in enumerate(self.slots) if slot.is_in(query)})

    def _machines(self, chosen: Container[int]) -> int:
        return sum(
            machines for slots, machines in self.patterns if any(one in chosen for one in slots)
        )


def coverage(query: ComparisonQuery) -> Coverage:
    """Of all series of the query's class, under its filters."""
    if not is_unfiltered(query):
        return _coverage_directly(query)
    body = rollup("coverage", class_of(query))
    return Coverage(tuple(Slot(*slot) for slot in body["slots"]), body["patterns"])


@maker("coverage")
def _make_coverage(question: Question) -> Made:
    found = _coverage_directly(query_of(question))
    slots = [[slot.cipher, slot.block_size] for slot in found.slots]
    return Made({"slots": slots, "patterns": found.patterns})


def _coverage_directly(query: ComparisonQuery) -> Coverage:
    series, query = class_series(query), replace(query, group_by="cpu")
    if told_by_sets(query):
        return _coverage_by_sets(query, series)
    results, environment = results_of_query(query, series), voting_environment(query.tool)
    rows = fetch_rows(
        f"""
        SELECT slots, count(*)::int FROM (
            SELECT array_agg(slot ORDER BY slot) AS slots FROM (
                SELECT DISTINCT k.host_id, {environment} AS environment_id, s.slot {results.sql}
            ) measured GROUP BY host_id, environment_id
        ) pairs GROUP BY slots
        """,  # noqa: S608 - closed lists
        results.parameters,
    )
    return Coverage(series.slots, rows)


def _coverage_by_sets(query: ComparisonQuery, series: SeriesTable) -> Coverage:
    """The same of a query that sets of series tell enough of."""
    patterns = [
        (sorted({series.slot_of[place] for place in places(mask)}), machines)
        for mask, machines in Counter(measured_by_pairs(query, series.ids)).items()
        if mask
    ]
    return Coverage(series.slots, patterns)
