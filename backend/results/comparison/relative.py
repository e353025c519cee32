"""Figures of groups against a reference: a group of the same comparison, or one host."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from analysis.comparison import GroupKey, Reference, against, reference_among, relative
from analysis.relative import Ratio, ratio_of_hosts
from results.analytics.engine import Ask
from results.comparison.votes import (
    GroupedVotes,
    group_names,
    grouped_votes,
    summaries,
    votes_statement,
)
from results.selection import ComparisonQuery, member
from store.models import ReferenceProfile

_OWN_RATIOS = """
    SELECT v.g, v.host, v.slot, v.value / b.value AS value, NULL::DOUBLE AS uncertainty, v.source,
        v.doubtful
    FROM matched v JOIN matched b ON b.own = $reference
        AND b.host = v.host AND b.slot = v.slot AND b.split = v.split
    WHERE v.own <> b.own AND b.value > 0
"""
"""Of each matched host in a group the ratio of its value to its own in the reference's group."""


def related(
    ask: Ask, query: ComparisonQuery, profile: ReferenceProfile | None, grouped: GroupedVotes
) -> GroupedVotes:
    """The groups with their ratios to what the query says; as they are where it says nothing."""
    if query.relative_to is None:
        return grouped
    if query.reference_host is not None:
        return _to_host(ask, query, profile, grouped, query.reference_host)
    reference = reference_among(grouped.groups, query.relative_to)
    if not query.matched:
        return replace(
            grouped, groups=tuple(relative(grouped.groups, reference)), relative_to=reference
        )
    ratios = _own_ratios(ask, query, profile)
    groups = (
        replace(group, ratios=ratios.get((group.key, group.split_key), {}))
        for group in grouped.groups
    )
    return replace(grouped, groups=tuple(groups), relative_to=reference)


def _to_host(
    ask: Ask,
    query: ComparisonQuery,
    profile: ReferenceProfile | None,
    grouped: GroupedVotes,
    host: str,
) -> GroupedVotes:
    """By the host's latest figures, whatever the query's other filters are."""
    alone = replace(query.plain, group_by="host", filters={"host": (host,)})
    found = grouped_votes(ask, alone, profile).groups
    base = found[0].values if found else {}
    reference = Reference(host, found[0].label if found else None, is_host=True)
    groups = (
        group
        if query.group_by == "host" and group.key == host
        else against(group, base, exact=True)
        for group in grouped.groups
    )
    return replace(grouped, groups=tuple(groups), relative_to=reference)


def _own_ratios(
    ask: Ask, query: ComparisonQuery, profile: ReferenceProfile | None
) -> Mapping[GroupKey, Mapping[str, Ratio]]:
    """Group -> cipher -> the summary of its hosts' own ratios."""
    statement = votes_statement(ask, query, profile)
    statement.ctes = {"matched": statement.ctes["votes"], "votes": _OWN_RATIOS}
    statement.parameters["reference"] = member(query.group_by, query.relative_to or "")
    rows = summaries(ask, query, statement)
    names = group_names(query, {row.group for row in rows})
    found = defaultdict[GroupKey, dict[str, Ratio]](dict)
    for row in rows:
        name = names[row.group]
        found[name.key, name.split_key][row.slot.cipher] = ratio_of_hosts(row.summary)
    return found
