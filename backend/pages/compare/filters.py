"""The pickers of the compare page: ciphers, which of them at first, filters with their values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.http import QueryDict

from analysis.ciphers.palette import Family, cipher_order, family
from compare.facets import FACETS, Coverage, Facet, FacetOption, coverage
from compare.question import ComparisonQuery
from pages.page_query import PageAddress

FILTER_TITLES = {**FACETS, "tag": "Tag"}

# What most readers come for: the AEADs, the plain counter mode, and the slow yardstick.
USUAL_CIPHERS = {
    "ssh": (
        "aes128-gcm@openssh.com",
        "aes256-gcm@openssh.com",
        "chacha20-poly1305@openssh.com",
        "aes128-ctr",
        "aes256-ctr",
        "3des-cbc",
    ),
    "openssl": (
        "aes-128-gcm",
        "aes-256-gcm",
        "chacha20-poly1305",
        "aes-128-cbc",
        "aes-256-cbc",
        "des-ede3",
        "des-ede3-cbc",
    ),
}
ENOUGH = 3
AT_MOST = 6


def _default_ciphers(tool: str, measured: Iterable[str]) -> tuple[str, ...]:
    """The ciphers to show when the URL names none: the usual ones that somebody measured.

    Where fewer than three of those exist, the most widely measured ones fill up to six.
    """
    names = list(measured)
    usual = [cipher for cipher in USUAL_CIPHERS[tool] if cipher in names]
    if len(usual) < ENOUGH:
        usual += [name for name in names if name not in usual][: AT_MOST - len(usual)]
    return tuple(sorted(usual, key=cipher_order))


def with_ciphers(query: ComparisonQuery, covered: Coverage | None = None) -> ComparisonQuery:
    """The query with the usual ciphers where it names none; `covered` for who has read it."""
    if query.ciphers:
        return query
    measured = (covered or coverage(query)).ciphers
    return replace(query, ciphers=_default_ciphers(query.tool, measured))


def families(
    measured: Mapping[str, int], chosen: Sequence[str]
) -> list[tuple[Family, list[tuple[str, int]]]]:
    """The picker: by family the ciphers that are measured, or chosen, and their hosts."""
    hosts = dict.fromkeys(chosen, 0) | dict(measured)
    ordered = sorted(hosts, key=cipher_order)
    return [
        (known, [(cipher, hosts[cipher]) for cipher in members])
        for known, members in groupby(ordered, key=family)
    ]


FIND = "find-"
"""Parameters that search in the values of one filter begin so."""

VALUES_AT_FIRST = 8
"""Values of a filter that are shown without being asked for: those of most machines."""

VALUES_AT_MOST = 100
"""Values shown when more are asked for; whatever is rarer is found by its name."""

MORE = "more"


@dataclass(frozen=True)
class ShownFacet:
    """A filter with the values in view: the chosen ones, then those of most machines.

    `key` tells it from all others, as `name` does not: several filters are of the parameter `tag`.
    """

    key: str
    name: str
    label: str
    options: tuple[FacetOption, ...]
    chosen: tuple[str, ...]
    total: int
    find: str
    """The text that its values are searched for."""
    unseen: int
    """Values that fit the search and are not in view."""
    opened: bool
    """Whether more values are in view than at first."""
    more: str
    """The address that has more of them in view."""

    @property
    def find_name(self) -> str:
        """The parameter that searches its values."""
        return f"{FIND}{self.key}"

    @property
    def has_search(self) -> bool:
        """Whether it has more values than anybody likes to read through."""
        return self.total > VALUES_AT_FIRST


def shown_facets(
    known: Sequence[Facet], chosen: Mapping[str, tuple[str, ...]], params: QueryDict
) -> list[ShownFacet]:
    """The filters that have values."""
    shown = [_shown(facet, chosen.get(facet.name, ()), params) for facet in known]
    return [*(facet for facet in shown if facet.options or facet.find), *_untold(known, chosen)]


def _untold(known: Sequence[Facet], chosen: Mapping[str, tuple[str, ...]]) -> list[ShownFacet]:
    """Tags that were asked for and that no machine has: they have to stay in the form."""
    keys = {facet.tag for facet in known if facet.tag}
    lost = [value for value in chosen.get("tag", ()) if value.partition(":")[0] not in keys]
    options = tuple(FacetOption(value, value, 0) for value in lost)
    if not options:
        return []
    return [
        ShownFacet(
            "tag", "tag", "Tag", options, tuple(lost), len(options), "", 0, opened=False, more=""
        )
    ]


def _shown(facet: Facet, values: tuple[str, ...], params: QueryDict) -> ShownFacet:
    key = f"{facet.name}-{facet.tag}" if facet.tag else facet.name
    find = params.get(f"{FIND}{key}", "").strip()
    mine = tuple(value for value in values if not facet.tag or value.startswith(f"{facet.tag}:"))
    every = _with_absent(facet, mine)
    on_top = [option for option in every if option.key in mine]
    fitting = [
        option
        for option in sorted(every, key=lambda option: -option.count)
        if option.key not in mine and find.casefold() in option.label.casefold()
    ]
    opened = key in params.getlist(MORE)
    in_view = fitting[: VALUES_AT_MOST if opened else VALUES_AT_FIRST]
    more = (*params.getlist(MORE), key)
    return ShownFacet(
        key=key,
        name=facet.name,
        label=facet.label,
        options=(*on_top, *in_view),
        chosen=mine,
        total=len(every),
        find=find,
        unseen=len(fitting) - len(in_view),
        opened=opened,
        more=PageAddress(params).changed(**{MORE: more}),
    )


def _with_absent(facet: Facet, chosen: tuple[str, ...]) -> tuple[FacetOption, ...]:
    """The values, those too that were asked for and nothing has."""
    known = {option.key for option in facet.options}
    absent = (key for key in chosen if key not in known)
    return (
        *facet.options,
        *(FacetOption(key, key.removeprefix(f"{facet.tag}:"), 0) for key in absent),
    )
