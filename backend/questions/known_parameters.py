"""Parameters that an address does not take: refused by name, with those that were perhaps meant.

A misspelt filter that were passed over would answer with the figures of everything. What an address
takes is what its operation declares for the OpenAPI document, and how a list goes on.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError

from questions.near_names import LONGEST_NAMED, SURELY_MEANT, alike, did_you_mean

ALWAYS = frozenset({"format"})
"""What clients of the Django REST framework send everywhere; it changes no figure."""

FIND = "find-"
"""Parameters of pages that search in the values of one filter begin so."""

OTHERS = ("utm_", FIND)
"""Names that begin so may be like a filter's and are no such: `utm_source`, `find-openssl`."""

MOST_NAMED = 20
"""Unknown names that are compared with the known ones: a thousand would take a second."""


def names_of(parameters: Iterable[OpenApiParameter]) -> frozenset[str]:
    """Those that stand in an address."""
    return frozenset(one.name for one in parameters if one.location == OpenApiParameter.QUERY)


def refuse_unknown(given: Iterable[str], known: frozenset[str]) -> None:
    """`ValidationError` that names each parameter which is not known."""
    faults = {
        name[:LONGEST_NAMED]: _sentence(name[:LONGEST_NAMED], known)
        for name in islice(_unknown(given, known), MOST_NAMED)
    }
    if faults:
        raise ValidationError(faults, code="unknown_parameter")


def misspelt(given: Iterable[str], known: frozenset[str]) -> dict[str, str]:
    """Unknown name -> the known one that it is nearly the same as; others are left out."""
    names = (
        name
        for name in _unknown(given, known)
        if len(name) <= LONGEST_NAMED and not name.startswith(OTHERS)
    )
    meant = {name: alike(name, known, SURELY_MEANT) for name in islice(names, MOST_NAMED)}
    return {name: near[0] for name, near in meant.items() if near}


def _unknown(given: Iterable[str], known: frozenset[str]) -> Iterator[str]:
    return (name for name in given if name not in known and name not in ALWAYS)


def _sentence(name: str, known: frozenset[str]) -> str:
    if not known:
        return f"There is no parameter {name!r}: this address takes none."
    if alike(name, known):
        return f"There is no parameter {name!r} here{did_you_mean(name, known)}"
    return f"There is no parameter {name!r} here; there are {', '.join(sorted(known))}."
