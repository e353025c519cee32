from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.http import QueryDict

from cipherspeed.palette import Family, cipher_order, family
from compare.facets import FACETS, Coverage, Facet, FacetOption, coverage
from compare.question import ComparisonQuery
from core.page_query import PageAddress, search_text

FILTER_TITLES = {**FACETS, "tag": "Tag"}

# AEADs, counter mode, and a slow cipher for comparison.
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
    names = list(measured)
    usual = [cipher for cipher in USUAL_CIPHERS[tool] if cipher in names]
    if len(usual) < ENOUGH:
        usual += [name for name in names if name not in usual][: AT_MOST - len(usual)]
    return tuple(sorted(usual, key=cipher_order))


def with_ciphers(query: ComparisonQuery, covered: Coverage | None = None) -> ComparisonQuery:
    if query.ciphers:
        return query
    measured = (covered or coverage(query)).ciphers
    return replace(query, ciphers=_default_ciphers(query.tool, measured))


def families(
    measured: Mapping[str, int], chosen: Sequence[str]
) -> list[tuple[Family, list[tuple[str, int]]]]:
    """Return (family, [(cipher, number of hosts)]) for all measured and selected ciphers."""
    hosts = dict.fromkeys(chosen, 0) | dict(measured)
    ordered = sorted(hosts, key=cipher_order)
    return [
        (known, [(cipher, hosts[cipher]) for cipher in members])
        for known, members in groupby(ordered, key=family)
    ]


FIND = "find-"
"""Prefix of parameters that search the values of a filter: `find-cpu=xeon` searches CPUs."""


def searches(params: QueryDict) -> dict[str, str]:
    names = (name for name in params if name.startswith(FIND))
    return {name.removeprefix(FIND): search_text(params, name) for name in names}


VALUES_AT_FIRST = 8

VALUES_AT_MOST = 100

MORE = "more"


@dataclass(frozen=True)
class ShownFacet:
    """Describe a filter as displayed: the selected values, then the values with the most hosts.

    `unseen`: number of matching values that are not displayed. `more`: URL that displays more
    values.
    """

    facet: Facet
    options: tuple[FacetOption, ...]
    chosen: tuple[str, ...]
    unseen: int
    opened: bool
    more: str

    @property
    def find_name(self) -> str:
        return f"{FIND}{self.facet.key}"

    @property
    def has_search(self) -> bool:
        return self.facet.total > VALUES_AT_FIRST


def shown_facets(
    known: Sequence[Facet], chosen: Mapping[str, tuple[str, ...]], params: QueryDict
) -> list[ShownFacet]:
    """Return the filters that have values.

    An additional filter "Tag" contains the selected tags that belong to none of these filters.
    """
    tags = {facet.tag for facet in known}
    lost = tuple(value for value in chosen.get("tag", ()) if value.partition(":")[0] not in tags)
    shown = [_shown(facet, chosen.get(facet.name, ()), params) for facet in known]
    shown.append(_shown(Facet("tag", "Tag", (), len(lost)), lost, params))
    return [picker for picker in shown if picker.options or picker.facet.search]


def _shown(facet: Facet, values: tuple[str, ...], params: QueryDict) -> ShownFacet:
    mine = tuple(value for value in values if not facet.tag or value.startswith(f"{facet.tag}:"))
    on_top = {option.key: option for option in facet.options if option.key in mine}
    # Including selected values without hosts.
    lost = (key for key in mine if key not in on_top)
    absent = (FacetOption(key, key.removeprefix(f"{facet.tag}:"), 0) for key in lost)
    fitting = [option for option in facet.options if option.key not in mine]
    fitting.sort(key=lambda option: -option.count)
    opened = facet.key in params.getlist(MORE)
    in_view = fitting[: VALUES_AT_MOST if opened else VALUES_AT_FIRST]
    more = (*params.getlist(MORE), facet.key)
    return ShownFacet(
        facet,
        options=(*on_top.values(), *absent, *in_view),
        chosen=mine,
        unseen=len(fitting) - len(in_view) + facet.more,
        opened=opened,
        more=PageAddress(params).changed(**{MORE: more}),
    )
