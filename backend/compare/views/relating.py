from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.views.generic import RedirectView

from cipherspeed.group_view import MOST_GROUPS
from cipherspeed.groups import Comparison
from compare.facets import SharedHosts, shared_hosts
from compare.question import ComparisonQuery
from core.access import ReaderMixin
from core.page_query import PageAddress
from runs.filters import FILTERS

STAYS = frozenset({"cpu", "cpu_vendor", "microarchitecture", "architecture", "host"})
"""Groupings by properties that do not change. Each host is therefore in only one group."""

UNDISTURBED = ("no",)


@dataclass(frozen=True)
class Pair:
    pair: SharedHosts
    address: str


def relating_context(
    query: ComparisonQuery, params: QueryDict, comparison: Comparison, address: PageAddress
) -> dict[str, Any]:
    """Return the template context of the controls for splits, references and matched hosts.

    `offered`: two groups for which the page offers a comparison of only the shared hosts. With a
    reference, one group is the reference. Without a reference, the groups share the most hosts, and
    are offered only if fewer than half of their hosts are in both groups. Without a filter for the
    grouping, a page cannot select two groups, and nothing is offered.
    """
    reference = comparison.relative_to
    choices = {group.key: group.label for group in comparison.groups[:MOST_GROUPS]}
    if query.relative_to is not None and reference is not None:
        choices[query.relative_to] = reference.label or reference.key
    pairs = []
    if query.group_by in FILTERS and query.group_by not in STAYS:
        pairs = [
            Pair(shared, _matched_url(query, shared, address)) for shared in shared_hosts(query)
        ]
    return {
        "split_by": params.get("split_by", ""),
        "references": choices,
        "pairs_to_match": pairs,
        "offered": None if query.matched else _offered(query, pairs),
        "exchanged_address": None if comparison.groups else _exchanged(query, address),
        "may_match": query.group_by != "host",
    }


def _offered(query: ComparisonQuery, pairs: Sequence[Pair]) -> Pair | None:
    if query.relative_to is None:
        return pairs[0] if pairs and pairs[0].pair.mostly_different else None
    return next((pair for pair in pairs if query.relative_to in pair.pair.keys), None)


def _exchanged(query: ComparisonQuery, address: PageAddress) -> str | None:
    if query.group_by not in STAYS or query.split_by is None or query.split_by in STAYS:
        return None
    group_by, split_by = query.split_by, query.group_by
    related = _by_what_changes(query, address, group_by=group_by, split_by=split_by)
    return related or address.changed(
        group_by=group_by, split_by=split_by, relative_to=None, matched=None
    )


def _by_what_changes(
    query: ComparisonQuery, address: PageAddress, *, group_by: str, split_by: str
) -> str | None:
    """Return the URL that compares the two groups with the most shared hosts, split by `split_by`.

    Exclude disturbed runs if at least half of the shared hosts remain. Return None if no host is in
    two groups.
    """
    query = replace(query, group_by=group_by, split_by=None, relative_to=None, matched=False)
    quiet = replace(query, filters={"disturbed": UNDISTURBED, **query.filters})
    ways = {"group_by": group_by, "split_by": split_by}
    pairs = shared_hosts(query) if group_by in FILTERS else []
    if not pairs:
        return None
    among_quiet = shared_hosts(quiet)
    if among_quiet and 2 * among_quiet[0].shared >= pairs[0].shared:
        return _matched_url(quiet, among_quiet[0], address, **ways, disturbed=UNDISTURBED)
    return _matched_url(query, pairs[0], address, **ways)


def _matched_url(
    query: ComparisonQuery, pair: SharedHosts, address: PageAddress, **ways: str | tuple[str, ...]
) -> str:
    own = {query.group_by: (pair.first.key, pair.second.key)}
    reference = query.relative_to if query.relative_to in pair.keys else pair.first.key
    return address.changed(**{**ways, **own}, matched="1", relative_to=reference)


class UpgradeCost(ReaderMixin, RedirectView):
    """Redirect to a comparison of two OpenSSL release series on the same hosts, split by CPU.

    Select the pair of release series that the most hosts measured. Use ssh results, or openssl
    results if no host measured ssh with two release series.
    """

    def get_redirect_url(self) -> str:
        ways = {"group_by": "openssl_series", "split_by": "cpu"}
        addresses = (
            _by_what_changes(
                ComparisonQuery(tool=tool), PageAddress(QueryDict(f"tool={tool}")), **ways
            )
            for tool in ("ssh", "openssl")
        )
        address = next(filter(None, addresses), PageAddress.of(tool="ssh", **ways))
        return f"{reverse('compare')}{address}"
