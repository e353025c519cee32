"""The sentence over a comparison with a reference: what surely differs, by how much, where."""

from django.utils.text import Truncator

from analysis.comparison import Comparison
from analysis.relative_findings import Differing, RelativeFindings, relative_findings
from pages.formatting import difference

MOST_PLACES = 4
LONGEST_NAME = 40


def finding(comparison: Comparison) -> str:
    """In words; empty where nothing is relative to anything."""
    found, reference = relative_findings(comparison), comparison.relative_to
    if found is None or reference is None or not found.judged:
        return ""
    parts = _sides(found) or [_none(found, matched=comparison.matched)]
    left = found.judged - found.differing
    if found.differing and left:
        parts.append(_others(left, matched=comparison.matched))
    if found.may_be_chance:
        parts.append("so few may be chance")
    if found.unjudged:
        parts.append(f"of {found.unjudged} more too few hosts tell")
    return f"Against {_name(reference.label or reference.key)}: {'; '.join(parts)}."


def _none(found: RelativeFindings, *, matched: bool) -> str:
    """Medians of groups scatter with their hosts: what they do not tell apart may differ."""
    if matched:
        return f"none of {_figures(found.judged)} differs beyond the noise"
    figures = _figures(found.judged)
    return f"the groups' medians tell none of {figures} apart; smaller differences may be there"


def _others(count: int, *, matched: bool) -> str:
    if matched:
        return f"the other {count} {'is' if count == 1 else 'are'} within it"
    return f"of the other {count} the groups' medians do not tell"


def _sides(found: RelativeFindings) -> list[str]:
    said: list[str] = []
    for word, side in (("lower", found.lower), ("higher", found.higher)):
        if side is not None:
            begin = f"{side.figures}" if said else f"{side.figures} of {_figures(found.judged)}"
            verb = "is" if side.figures == 1 else "are"
            where = "" if said else " beyond the noise"
            said.append(f"{begin} {verb} {word}{where}, {_amounts(side)} ({_places(side)})")
    return said


def _figures(count: int) -> str:
    return f"{count} figure{'' if count == 1 else 's'}"


def _amounts(side: Differing) -> str:
    nearest, farthest = difference(side.nearest), difference(side.farthest)
    return nearest if nearest == farthest else f"{nearest} to {farthest}"


def _places(side: Differing) -> str:
    names = [_name(place) for place in side.places[:MOST_PLACES]]
    more = len(side.places) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _name(text: str) -> str:
    return Truncator(text).chars(LONGEST_NAME)
