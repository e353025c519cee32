"""Which hosts measured what under a query's filters, and the block size when none is asked for."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any, TypeVar

from analysis.comparison import Group
from compare.question import ComparisonQuery
from results.analytics.ask import Ask
from results.analytics.engine import questions
from results.figures import (
    SeriesTable,
    Slot,
    Statement,
    add_series,
    agreed,
    class_series,
    voting_runs,
)
from results.selection import group_members, group_table

Label = TypeVar("Label", bound=Hashable)


@dataclass(frozen=True)
class Measured:
    """Of all series of a query's class, whatever ciphers, block size and metric it asks for.

    `runs`: the table of those that can vote (`voting_runs`), which lives as long as the block of
    questions, `ask`. `slots`: their sets of series, each with a bit for each slot of `series`.
    """

    ask: Ask
    query: ComparisonQuery
    series: SeriesTable
    runs: str
    slots: Mapping[int, int]
    _alike: dict[str, Counter[int]] = field(default_factory=dict)

    def count(self, of: str, label: Callable[[Slot], Label | None]) -> dict[Label, int]:
        """Label -> how many different `of` ("g" or "host") measured a slot that has it."""
        wanted: dict[Label, int] = {}
        for place, slot in enumerate(self.series.slots):
            if (one := label(slot)) is not None:
                wanted[one] = wanted.get(one, 0) | 1 << place
        counts = Counter[Label]()
        for slots, number in self._slots_of(of).items():
            counts.update({one: number for one, bits in wanted.items() if bits & slots})
        return dict(counts)

    def _slots_of(self, of: str) -> Counter[int]:
        """Slots, a bit for each -> how many `of` measured just these."""
        if of not in self._alike:
            rows = self.ask(
                f"""
                SELECT sets, count(*) FROM (
                    SELECT list_sort(list(DISTINCT series_set)) AS sets FROM {self.runs}
                    GROUP BY {of}
                ) GROUP BY sets
                """,  # noqa: S608 - names of our own
                {},
            )
            self._alike[of] = Counter()
            for sets, number in rows:
                self._alike[of][reduce(or_, (self.slots[one] for one in sets))] += number
        return self._alike[of]

    def hosts_by_group(self) -> dict[Any, int]:
        """Group -> hosts that belong to it, whatever ciphers they measured."""
        select = f"SELECT g, count(DISTINCT host) FROM {self.runs} GROUP BY g"  # noqa: S608
        return dict(self.ask(select, {}))

    def hosts_of(self, groups: Collection[Group]) -> int:
        """How many different hosts these groups have: one may be in several."""
        kind = (
            "INTEGER" if group_table(self.query.group_by) and not self.query.split_by else "VARCHAR"
        )
        select = f"""
            SELECT count(DISTINCT host) FROM {self.runs}
            WHERE list_contains($groups::{kind}[], g)
        """  # noqa: S608 - names of our own
        ((count,),) = self.ask(select, {"groups": group_members(self.query, groups)})
        return int(count)


def measured(ask: Ask, query: ComparisonQuery) -> Measured:
    """Read at the first call in a block of questions for a query's class and filters."""
    runs_alone = replace(query.plain, split_by=query.split_by)
    key = repr(replace(runs_alone, ciphers=(), block_size=None, metric=""))
    known: Measured | None = ask.kept.get(key)
    if known is None:
        series = class_series(query)
        slots = _slots_of_sets(ask, query, series)
        runs = f"voting_{len(ask.kept)}"
        statement = voting_runs(query, slots)
        ask(f"CREATE TEMP TABLE {runs} AS {statement.sql('FROM voting')}", statement.parameters)
        known = ask.kept[key] = Measured(ask, query, series, runs, slots)
    return known


def _slots_of_sets(ask: Ask, query: ComparisonQuery, series: SeriesTable) -> dict[int, int]:
    """The sets with a series of the query's class -> a bit for each of its slots."""
    statement = Statement()
    add_series(statement, series)
    select = f"""
        SELECT x.series_set, list(DISTINCT s.slot) FROM series_of_set x
        JOIN series s ON s.id = x.series WHERE {agreed(query, statement)} GROUP BY x.series_set
    """  # noqa: S608 - closed lists
    rows = ask(statement.sql(select), statement.parameters)
    return {one: sum(1 << slot for slot in slots) for one, slots in rows}


def resolve_block_size(query: ComparisonQuery) -> ComparisonQuery:
    """The query with its block size decided, where the tool has one and none was asked for.

    The largest block size at which all groups have a figure of its ciphers; failing that, most.
    """
    if query.tool != "openssl" or query.block_size is not None:
        return query
    with questions() as ask:
        groups = measured(ask, query).count(
            "g", lambda slot: slot.block_size if slot.is_in(query) else None
        )
    most = max(groups.values(), default=0)
    sizes = (size for size, number in groups.items() if number == most)
    return replace(query, block_size=max(sizes, default=None))
