"""What a page shows of a comparison: where groups are hosts, those on the page alone."""

from dataclasses import replace
from heapq import nsmallest
from typing import Any

from analysis.comparison import group_order, natural_key
from analysis.group_view import LOWER_IS_BETTER, MOST_GROUPS, GroupView, InView, in_view
from results.analytics.engine import questions
from results.comparison.comparison import compare, comparison_of_groups, profile_of
from results.comparison.default_block_size import resolve_block_size
from results.comparison.measured import measured
from results.comparison.relative import related
from results.comparison.votes import GroupedVotes, group_names, grouped_votes, votes_statement
from results.selection import ComparisonQuery

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
    profile = profile_of(query)
    with questions() as ask:
        query = resolve_block_size(query)
        votes, slots = votes_statement(ask, query, profile), measured(ask, query).series.slots
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
            grouped = related(ask, query, profile, grouped_votes(ask, query, profile, on_page))
    without = sum(host is not None and not n for host, _, n, _ in rows)
    comparison = comparison_of_groups(query, profile, replace(grouped, no_baseline=without))
    ciphers = {slots[slot].cipher for _, slot, n, _ in rows if slot is not None and n}
    return InView(
        replace(comparison, ciphers=tuple(sorted(ciphers, key=natural_key))),
        tuple(sorted(comparison.groups, key=lambda group: keys.index(group.key))),
        len(values),
        len(found),
    )
