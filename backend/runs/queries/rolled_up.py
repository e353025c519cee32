"""Comparisons by slices: a grouping's groups with all slots of a class, whichever are asked for.

Unfiltered they are rollups (`runs.rollups`); of the few machines of named hosts they are made at
once, for one answer.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from runs.models import ReferenceProfile
from runs.models.environment import DIMENSIONS
from runs.queries.grouped_votes import GroupedVotes, groups_of, slice_rows, value_row
from runs.queries.machine_results import Slot, class_series
from runs.queries.selection import ComparisonQuery, grouping
from runs.queries.votes import Names, group_names
from runs.rollups import Made, Question, in_use, maker, rollup, rollup_with_slots

CLASS = {
    "ssh": ("tool", "method", "compression", "target_kind", "acceleration"),
    "openssl": ("tool", "operation", "threads", "acceleration"),
}
"""Tool -> what makes the series of one comparison, besides ciphers and block size."""


def is_unfiltered(query: ComparisonQuery) -> bool:
    """Whether every machine that measured the query's series counts, with its latest result.

    And rollups may say so (`runs.rollups.without_rollups`).
    """
    return (
        in_use()
        and not any(query.filters.values())
        and (query.since, query.until) == (None, None)
        and (query.tool != "ssh" or query.mac is None)
    )


def is_rolled_up(query: ComparisonQuery) -> bool:
    """Whether the comparison is one that rollups are made for."""
    return is_unfiltered(query) and query.group_by in DIMENSIONS


def class_of(query: ComparisonQuery) -> dict[str, Any]:
    """The class of a query's series, as a question."""
    return {name: getattr(query, name) for name in CLASS[query.tool]}


def query_of(question: Question) -> ComparisonQuery:
    """The query that a question of a rollup stands for."""
    fields = {name: question[name] for name in CLASS[question["tool"]]}
    return ComparisonQuery(
        **fields,
        group_by=question.get("group_by", DIMENSIONS[0]),
        metric=question.get("metric", "throughput"),
    )


@maker("groups")
def _make_groups(question: Question) -> Made:
    profile = ReferenceProfile.objects.filter(pk=question["profile"]).first()
    return _slice(query_of(question), profile)


def _slice(query: ComparisonQuery, profile: ReferenceProfile | None) -> Made:
    """All groups of a query by all slots of its class, whichever it asks for."""
    every = class_series(query)
    rows = slice_rows(query, profile, every)
    names = group_names(query.group_by, rows.hosts)
    values: dict[int, list[Any]] = {slot: [] for slot in range(len(every.slots))}
    for group, slot, *summary in rows.values:
        values[slot].append([group, *summary])
    seen: dict[int, list[Any]] = {slot: [] for slot in values}
    for group, slot in rows.seen:
        seen[slot].append(group)
    body = {
        "slots": [[slot.cipher, slot.block_size] for slot in every.slots],
        "seen": list(seen.values()),
        "groups": [[group, *names[group], hosts] for group, hosts in rows.hosts.items()],
        "without": rows.without,
    }
    return Made(body, values)


def _question(query: ComparisonQuery, profile: ReferenceProfile | None) -> Question:
    return {
        **class_of(query),
        "group_by": query.group_by,
        "metric": query.metric,
        "profile": profile.pk if profile else None,
    }


def resolved_by_rollup(query: ComparisonQuery, profile: ReferenceProfile | None) -> ComparisonQuery:
    """The query with the block size that it is compared at."""
    return _Body.read(rollup("groups", _question(query, profile))).resolved(query)


def grouped_by_rollup(query: ComparisonQuery, profile: ReferenceProfile | None) -> GroupedVotes:
    """What `grouped_votes` says of the query, its block size resolved if need be."""

    def chosen(body: Mapping[str, Any]) -> list[int]:
        return _Body.read(body).chosen(query)

    return _grouped(*rollup_with_slots("groups", _question(query, profile), chosen))


def is_small(query: ComparisonQuery) -> bool:
    """Whether all that its few machines measured is read sooner than their block size is found."""
    return (
        query.names_hosts
        and query.tool == "openssl"
        and query.block_size is None
        and query.until is None
        and not grouping(query.group_by, query.tool).of_run
    )


def grouped_by_slice(query: ComparisonQuery, profile: ReferenceProfile | None) -> GroupedVotes:
    """The same of a query that is small, from a slice that is made for it alone."""
    made = _slice(query, profile)
    chosen = _Body.read(made.body).chosen(query)
    return _grouped(made.body, {slot: made.slots[slot] for slot in chosen})


def _grouped(read: Mapping[str, Any], slots: Mapping[int, Any]) -> GroupedVotes:
    body = _Body.read(read)
    values = [
        value_row(body.slots, group, slot, *summary)
        for slot, rows in slots.items()
        for group, *summary in rows
    ]
    groups = groups_of(values, body.names, body.hosts)
    return GroupedVotes(groups, body.without_baseline(frozenset(slots)))


@dataclass(frozen=True)
class _Body:
    """The body of a slice: its slots, the groups seen in each, names, hosts, and patterns.

    A pattern is (slots without a value, slots with one, machines that are so).
    """

    slots: tuple[Slot, ...]
    seen: list[list[Any]]
    names: Names
    hosts: Mapping[Any, int]
    patterns: list[tuple[list[int], list[int], int]]

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> "_Body":
        """From JSON."""
        return cls(
            tuple(Slot(*slot) for slot in body["slots"]),
            body["seen"],
            {group: (key, label) for group, key, label, _ in body["groups"]},
            {group: hosts for group, _, _, hosts in body["groups"]},
            body["without"],
        )

    def resolved(self, query: ComparisonQuery) -> ComparisonQuery:
        """The largest block size that all groups have; failing that, the one that most have."""
        if query.tool != "openssl" or query.block_size is not None:
            return query
        groups: defaultdict[int, set[Any]] = defaultdict(set)
        for slot, seen in zip(self.slots, self.seen, strict=True):
            if seen and slot.is_in(query):
                groups[slot.block_size or 0].update(seen)
        most = max(groups, key=lambda block: (len(groups[block]), block), default=None)
        return replace(query, block_size=most)

    def chosen(self, query: ComparisonQuery) -> list[int]:
        """The slots that the query asks for."""
        asked = self.resolved(query)
        return [place for place, slot in enumerate(self.slots) if slot.is_in(asked)]

    def without_baseline(self, chosen: frozenset[int]) -> int:
        """Machines that measured chosen slots, none of them with a value."""
        return sum(
            machines
            for unvalued, valued, machines in self.patterns
            if chosen.intersection(unvalued) and chosen.isdisjoint(valued)
        )
