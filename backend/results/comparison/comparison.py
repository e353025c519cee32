"""Comparisons from the analytics copy, whole or of one page.

`tests/results/comparison_reference.py` says in Python what they mean.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from heapq import nsmallest
from typing import Any

from analysis.comparison import (
    Comparison,
    Group,
    GroupKey,
    Reference,
    against,
    comparison_of,
    group_order,
    natural_key,
    reference_among,
    relative,
)
from analysis.group_view import LOWER_IS_BETTER, MOST_GROUPS, GroupView, InView, in_view
from analysis.groups import Ratio, ratio_of_hosts
from analysis.over_time.tool_changes import ToolState, differ, tool_changes, tool_state
from compare.question import ComparisonQuery
from results.analytics.ask import Ask
from results.analytics.engine import questions
from results.comparison.measured import measured, resolve_block_size
from results.comparison.votes import (
    GroupedVotes,
    group_names,
    grouped_votes,
    summaries,
    votes_statement,
)
from results.selection import member
from store.models import DimensionValue


def compare(query: ComparisonQuery) -> Comparison:
    """The comparison that the query asks for; `Unanswerable` where there is none."""
    with questions() as ask:
        query = resolve_block_size(query)
        grouped = related(ask, query, grouped_votes(ask, query))
    return comparison_of_groups(query, grouped)


def comparison_of_groups(query: ComparisonQuery, grouped: GroupedVotes) -> Comparison:
    """The answer to a query of these groups."""
    return comparison_of(
        grouped.groups,
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        no_baseline=grouped.no_baseline,
        split_by=query.split_by,
        relative_to=grouped.relative_to,
        matched=query.matched,
    )


_HOSTS_AND_SLOTS = """
SELECT g, slot, count(value), {best}(value) FILTER (WHERE list_contains($sorting::INTEGER[], slot))
FROM votes GROUP BY GROUPING SETS ((g), (slot))
"""
"""Of each host, and of each slot: how many values, and the best of those that hosts are sorted by.
A host has one value of each slot, so that this puts them in order."""


def compare_in_view(query: ComparisonQuery, view: GroupView) -> InView:
    """What this view shows of the comparison that the query asks for.

    There may be ten thousand hosts: only those on the page are summarised.
    """
    if query.group_by != "host" or query.split_by or query.matched:
        return in_view(compare(query), view)
    with questions() as ask:
        query = resolve_block_size(query)
        votes, slots = votes_statement(ask, query), measured(ask, query).series.slots
        votes.parameters["sorting"] = [
            place for place, slot in enumerate(slots) if view.sorts_by(slot.cipher)
        ]
        best = "min" if query.metric in LOWER_IS_BETTER else "max"
        rows = ask(votes.sql(_HOSTS_AND_SLOTS.format(best=best)), votes.parameters)
        values = {host: value for host, _, n, value in rows if host is not None and n}
        names = group_names(query, values)

        def place(host: int) -> Any:
            return view.place(values[host], query.metric), *group_order(
                names[host].key, names[host].label
            )

        found = [host for host in values if view.finds(names[host].label)]
        first = nsmallest(view.page * (view.top or MOST_GROUPS), found, key=place)
        on_page = list(view.on_page(first))
        keys = [names[host].key for host in on_page]
        grouped = GroupedVotes((), 0)
        if keys:
            grouped = related(ask, query, grouped_votes(ask, query, on_page))
    without = sum(host is not None and not n for host, _, n, _ in rows)
    comparison = comparison_of_groups(query, replace(grouped, no_baseline=without))
    ciphers = {slots[slot].cipher for _, slot, n, _ in rows if slot is not None and n}
    return InView(
        replace(comparison, ciphers=tuple(sorted(ciphers, key=natural_key))),
        tuple(sorted(comparison.groups, key=lambda group: keys.index(group.key))),
        len(values),
        len(found),
    )


_OWN_RATIOS = """
    SELECT v.g, v.host, v.slot, v.value / b.value AS value, NULL::DOUBLE AS uncertainty,
        '' AS family, v.source,
        v.doubtful
    FROM matched v JOIN matched b ON b.own = $reference
        AND b.host = v.host AND b.slot = v.slot AND b.split = v.split
    WHERE v.own <> b.own AND b.value > 0
"""
"""Of each matched host in a group the ratio of its value to its own in the reference's group."""


def related(ask: Ask, query: ComparisonQuery, grouped: GroupedVotes) -> GroupedVotes:
    """The groups with their ratios to what the query says; as they are where it says nothing."""
    if query.relative_to is None:
        return grouped
    found = _with_ratios(ask, query, grouped)
    ciphers = {cipher for group in found.groups for cipher in group.ratios}
    touched = any(change.touches(cipher) for change in tool_changes() for cipher in ciphers)
    return _with_tool_changes(ask, query, found) if query.tool == "openssl" and touched else found


def _with_ratios(ask: Ask, query: ComparisonQuery, grouped: GroupedVotes) -> GroupedVotes:
    if query.reference_host is not None:
        return _to_host(ask, query, grouped, query.reference_host)
    reference = reference_among(grouped.groups, query.relative_to or "")
    if not query.matched:
        return replace(
            grouped, groups=tuple(relative(grouped.groups, reference)), relative_to=reference
        )
    ratios = _own_ratios(ask, query)
    groups = (
        replace(group, ratios=ratios.get((group.key, group.split_key), {}))
        for group in grouped.groups
    )
    return replace(grouped, groups=tuple(groups), relative_to=reference)


def _to_host(
    ask: Ask,
    query: ComparisonQuery,
    grouped: GroupedVotes,
    host: str,
) -> GroupedVotes:
    """By the host's latest figures, whatever the query's other filters are."""
    found = grouped_votes(ask, _alone(query, host)).groups
    base = found[0].values if found else {}
    reference = Reference(host, found[0].label if found else None, is_host=True)
    groups = (
        group
        if query.group_by == "host" and group.key == host
        else against(group, base, exact=True)
        for group in grouped.groups
    )
    return replace(grouped, groups=tuple(groups), relative_to=reference)


def _alone(query: ComparisonQuery, host: str) -> ComparisonQuery:
    return replace(query.plain, group_by="host", filters={"host": (host,)})


_RELEASES = """
SELECT v.g, v.slot, list(DISTINCT e.openssl) FROM votes v JOIN run r ON r.id = v.run
JOIN environment e ON e.id = r.environment AND e.tool = 'openssl'
WHERE v.value IS NOT NULL GROUP BY v.g, v.slot
"""


def _tool_states(
    ask: Ask, query: ComparisonQuery
) -> dict[GroupKey, dict[str, frozenset[ToolState]]]:
    """Return group -> cipher -> how the votes were measured."""
    votes, slots = votes_statement(ask, query), measured(ask, query).series.slots
    rows = ask(votes.sql(_RELEASES), votes.parameters)
    releases = DimensionValue.objects.in_bulk({one for *_, found in rows for one in found})
    names = group_names(query, {group for group, *_ in rows})
    states = defaultdict[GroupKey, dict[str, frozenset[ToolState]]](dict)
    for group, slot, found in rows:
        name, cipher = names[group], slots[slot].cipher
        states[name.key, name.split_key][cipher] = frozenset(
            tool_state(releases[one].label, cipher) for one in found
        )
    return states


def _with_tool_changes(ask: Ask, query: ComparisonQuery, related: GroupedVotes) -> GroupedVotes:
    """Mark the ratios whose two sides were measured by `openssl speed` in different ways."""
    states, host = _tool_states(ask, query), query.reference_host
    of_host = next(iter(_tool_states(ask, _alone(query, host)).values()), {}) if host else {}

    def marked(group: Group) -> Group:
        reference = of_host if host else states.get((query.relative_to or "", group.split_key), {})
        own = states.get((group.key, group.split_key), {})
        return replace(
            group,
            ratios={
                cipher: ratio._replace(
                    tool_changed=differ(own.get(cipher, ()), reference.get(cipher, ()))
                )
                for cipher, ratio in group.ratios.items()
            },
        )

    return replace(related, groups=tuple(marked(group) for group in related.groups))


def _own_ratios(ask: Ask, query: ComparisonQuery) -> Mapping[GroupKey, Mapping[str, Ratio]]:
    """Group -> cipher -> the summary of its hosts' own ratios."""
    statement = votes_statement(ask, query)
    statement.ctes = {"matched": statement.ctes["votes"], "votes": _OWN_RATIOS}
    statement.parameters["reference"] = member(query.group_by, query.relative_to or "")
    rows = summaries(ask, query, statement)
    names = group_names(query, {row.group for row in rows})
    found = defaultdict[GroupKey, dict[str, Ratio]](dict)
    for row in rows:
        name = names[row.group]
        found[name.key, name.split_key][row.slot.cipher] = ratio_of_hosts(row.summary)
    return found
