"""How the compare page offers a split, a reference and matched hosts."""

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from analysis.comparison import Comparison
from analysis.group_view import MOST_GROUPS
from pages.page_query import PageAddress
from results.comparison.shared_hosts import SharedHosts, shared_hosts
from results.selection import FILTERS, ComparisonQuery

STAYS = frozenset({"cpu", "cpu_vendor", "microarchitecture", "architecture", "host"})
"""Groupings by what hardly changes on a host: their groups share no hosts."""


@dataclass(frozen=True)
class Pair:
    """Two groups that have hosts in common, and the address that compares these alone."""

    pair: SharedHosts
    address: str


def relating_context(
    query: ComparisonQuery, params: QueryDict, comparison: Comparison, address: PageAddress
) -> dict[str, Any]:
    """The pickers of split and reference, and pairs of groups that can be matched.

    `mostly_different`: the pair with the most hosts in both, where still most are in one alone.
    """
    reference = comparison.relative_to
    choices = {group.key: group.label for group in comparison.groups[:MOST_GROUPS]}
    if query.relative_to is not None and reference is not None:
        choices[query.relative_to] = reference.label or reference.key
    pairs = []
    if query.group_by not in STAYS and query.split_by is None:
        pairs = [Pair(one, _matching(query, one, address)) for one in shared_hosts(query)]
    first = pairs[0].pair if pairs and not query.matched else None
    return {
        "split_by": params.get("split_by", ""),
        "references": choices,
        "pairs_to_match": pairs,
        "mostly_different": pairs[0] if first and 2 * first.shared < first.hosts else None,
        "unsplit_address": address.changed(split_by=None),
        "may_match": query.group_by != "host",
    }


def _matching(query: ComparisonQuery, pair: SharedHosts, address: PageAddress) -> str:
    """The address of these two groups, their common hosts alone."""
    own = {query.group_by: (pair.first.key, pair.second.key)} if query.group_by in FILTERS else {}
    return address.changed(matched="1", relative_to=pair.first.key, **own)
