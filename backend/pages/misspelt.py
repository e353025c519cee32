"""Parameters of an address that a page passes over, although a filter was surely meant by them.

Addresses come with all kinds of parameters, of mails and of search engines, and none of them breaks
a page. But figures of everything must not be taken for those of a filter: the page says so.
"""

from dataclasses import dataclass

from django.http import QueryDict

from pages.page_query import COMPARISON_NAMES, PAGE_ONLY, PageAddress
from pages.recommend.recommend_form import KNOWN as RECOMMENDATION_NAMES
from questions.known_parameters import misspelt

KNOWN = COMPARISON_NAMES | RECOMMENDATION_NAMES | {*PAGE_ONLY, "status"}


@dataclass(frozen=True)
class Misspelt:
    """A parameter, the one that is nearly called so, and the address with that one instead."""

    name: str
    meant: str
    address: str


def misspelt_parameters(params: QueryDict) -> list[Misspelt]:
    """Those of an address that have a value."""
    given = [name for name in params if any(params.getlist(name))]
    return [
        Misspelt(name, meant, _corrected(params, name, meant))
        for name, meant in misspelt(given, KNOWN).items()
    ]


def _corrected(params: QueryDict, name: str, meant: str) -> str:
    values = tuple(dict.fromkeys((*params.getlist(meant), *params.getlist(name))))
    return PageAddress(params).changed(**{name: None, meant: values})
