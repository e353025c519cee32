"""Names and values that nobody knows: refused in words, with those that were perhaps meant.

A misspelt filter that were passed over would answer with the figures of everything. What an address
takes is what its operation declares for the OpenAPI document, and how a list goes on.
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice

from rest_framework.exceptions import ValidationError

ALWAYS = frozenset({"format"})
"""What clients of the Django REST framework send everywhere; it changes no figure."""

FIND = "find-"
"""Parameters of pages that search in the values of one filter begin so."""

OTHERS = ("utm_", FIND)
"""Names that begin so may be like a filter's and are no such: `utm_source`, `find-openssl`."""

MOST_NAMED = 20
"""Unknown names that are compared with the known ones: a thousand would take a second."""

PERHAPS_MEANT = 0.6
SURELY_MEANT = 0.75
"""How alike two names are (difflib's ratio): `ciper` and `cipher` 0.91, `hots` and `host` 0.75."""

LONGEST_NAMED = 50


def alike(name: str, known: Iterable[str], ratio: float = PERHAPS_MEANT) -> list[str]:
    """Up to three of the known names, the likest first."""
    return get_close_matches(name[:LONGEST_NAMED].lower(), sorted(known), n=3, cutoff=ratio)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "; did you mean ssh?", or a full stop where no name is near."""
    near = alike(name, known)
    return f"; did you mean {' or '.join(near)}?" if near else "."


def none_of(name: str, known: Iterable[str], beside: str = "") -> str:
    """The sentence about a value that is not among the known; `beside`: others, in words."""
    every = list(known)
    said = f"{name[:LONGEST_NAMED]!r} is none of {', '.join(every)}{beside}"
    # Where all of them are like it, nothing is to be added.
    return f"{said}." if len(alike(name, every)) == len(every) else said + did_you_mean(name, every)


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
