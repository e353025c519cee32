"""What the menu of a chart's mark offers: addresses that narrow the view, or lead to its hosts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.urls import reverse

from analysis.comparison import Comparison
from compare.question import HOST_PREFIX, TAG_PREFIX, ComparisonQuery
from documents.naming import UNKNOWN_KEY
from pages.compare.filters import FILTER_TITLES
from pages.page_query import PageAddress
from runs.filters import FILTERS

KEY, SPLIT_KEY = "\x1f", "\x1e"
"""Stand in an address for the key of the mark and that of its split: characters that are in no key,
"%1F" and "%1E" there."""

LONGEST_ADDRESS = 3000
"""Characters; servers refuse request lines of more than some 4,000."""

FILTER_OF_GROUPING = {"acceleration": "verdict"}
"""Groupings whose filter has another name."""


@dataclass(frozen=True)
class Choice:
    """One line of the menu.

    `leaves_out`: the address has this filter for all groups, and the mark's own is taken away.
    `besides`: keys for which it is not offered.
    """

    label: str
    address: str
    leaves_out: str = ""
    besides: tuple[str, ...] = ()

    @property
    def view(self) -> dict[str, Any]:
        """As the page's script takes it (`Choice` in frontend/src/comparison.ts)."""
        return {name: value for name, value in asdict(self).items() if value}


def group_choices(
    query: ComparisonQuery, comparison: Comparison, total: int, address: PageAddress
) -> list[dict[str, Any]]:
    """Of a chart of groups, of which there are `total`; the comparison may have fewer hosts."""
    name, split = filter_of(query.group_by), query.split_by
    keys = list(dict.fromkeys(group.key for group in comparison.groups))
    every = query.group_by != "host" or total == len(keys)
    reference = comparison.relative_to.key if comparison.relative_to else ""
    found: list[Choice] = []
    if name.startswith(TAG_PREFIX) and split is None:
        found += _of_tag(name.removeprefix(TAG_PREFIX), keys, address)
    elif name in FILTERS and (split is None or filter_of(split) in FILTERS):
        own = {name: KEY} | ({filter_of(split): SPLIT_KEY} if split else {})
        if total > 1:
            found.append(Choice("Only this group", _narrowed(address, **own)))
        found += _lists(own, address)
    if total > 1:
        related = address.changed(relative_to=KEY, chart=None)
        found.append(Choice("Take as reference", related, besides=(reference,)))
    if name in FILTERS and every and len(keys) > 1:
        whole = address.changed(**{name: tuple(keys)})
        if len(whole) <= LONGEST_ADDRESS:
            words = f"Leave this {FILTER_TITLES[name]} out" if split else "Leave it out"
            found.append(Choice(words, whole, name, (reference,)))
    return [one.view for one in found]


def filter_of(grouping: str) -> str:
    """The name of the filter by a grouping's values, which may be no filter of `FILTERS`."""
    return FILTER_OF_GROUPING.get(grouping, grouping)


def _narrowed(address: PageAddress, **filters: str | tuple[str, ...]) -> str:
    """One group has no other to be compared with: a host it still has."""
    reference = address.params.get("relative_to", "")
    kept = reference if reference.startswith(HOST_PREFIX) else None
    return address.changed(**filters, relative_to=kept, matched=None)


def _of_tag(tag: str, keys: Sequence[str], address: PageAddress) -> Iterator[Choice]:
    """A group by a tag's value; filters by other tags stay."""
    value, besides = f"{tag}:{KEY}", (UNKNOWN_KEY,)
    others = [one for one in address.params.getlist("tag") if not one.startswith(f"{tag}:")]
    if len(keys) > 1:
        yield Choice("Only this group", _narrowed(address, tag=(*others, value)), besides=besides)
    yield Choice("Runs of this group", _list("run-pages", tag=value), besides=besides)


def _lists(own: Mapping[str, str], address: PageAddress) -> Iterator[Choice]:
    """A host stays in the list of a group by its CPU; it leaves that of a release with an upgrade,
    and is then found with what it measured there.
    """
    if own == {"host": KEY}:
        yield from _host_pages()
        return
    if own == {"cpu": KEY}:
        yield Choice("Hosts of this group", _list("host-pages", **own))
    elif "host" not in own:
        by_host = _narrowed(address, **own, group_by="host", split_by="", sort="")
        yield Choice("Hosts of this group", by_host)
    yield Choice("Runs of this group", _list("run-pages", **own))


def _list(page: str, **filters: str) -> str:
    return reverse(page) + PageAddress.of(**filters)


def _host_pages() -> Iterator[Choice]:
    yield Choice("Page of this host", reverse("host-by-key", args=[KEY]))
    yield Choice("Runs of this host", _list("run-pages", host=KEY))


def cipher_choices(
    ciphers: Sequence[str], address: PageAddress, *, sorts: bool
) -> list[dict[str, Any]]:
    """Of the cipher of a mark; `sorts`: there are groups to be sorted."""
    found = []
    if len(ciphers) > 1:
        found.append(Choice("Only this cipher", address.changed(cipher=KEY)))
    if sorts:
        found.append(Choice("Sort by this cipher", address.changed(sort=f"cipher:{KEY}")))
    return [one.view for one in found]
