"""Names that are none of those known, in words, with the ones that were perhaps meant."""

from collections.abc import Iterable
from difflib import get_close_matches

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
