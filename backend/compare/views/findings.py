"""The sentence over a comparison with a reference: what surely differs, by how much, where."""

from collections.abc import Sequence

from django.utils.text import Truncator

from cipherspeed.groups import Comparison
from core.formatting import difference

BY_CHANCE = 0.05
"""The share of intervals that miss 1 where nothing differs (docs/method.md, section 3)."""

MOST_PLACES = 4
LONGEST_NAME = 40

Found = Sequence[tuple[str, float]]
"""Of each figure its group, of a comparison that is split by one value its split; its ratio."""


def finding(comparison: Comparison) -> str:
    """Return the sentence; empty without a reference or without an interval."""
    related = [group for group in comparison.groups if group.ratios]
    named = len({group.key for group in related}) > 1
    found = [
        (group.name if named or not group.split_label else group.split_label, ratio)
        for group in related
        for ratio in group.ratios.values()
    ]
    judged = sum(ratio.beyond_noise is not None for _, ratio in found)
    sure = [(place, ratio.ratio) for place, ratio in found if ratio.beyond_noise]
    reference, left = comparison.relative_to, judged - len(sure)
    if reference is None or not judged:
        return ""
    if not sure:
        parts = [_none(judged, matched=comparison.matched)]
    else:
        parts = list(_sides(sure, judged))
        if left:
            parts.append(_others(left, matched=comparison.matched))
        if len(sure) <= BY_CHANCE * judged:
            parts.append("so few may be chance")
    if unjudged := len(found) - judged:
        parts.append(f"of {unjudged} more too few hosts tell")
    return f"Against {_name(reference.label or reference.key)}: {'; '.join(parts)}."


def _none(judged: int, *, matched: bool) -> str:
    """Return that nothing differs beyond the noise."""
    figures = _figures(judged)
    if matched:
        return f"none of {figures} differs beyond the noise"
    return f"the groups' medians tell none of {figures} apart; smaller differences may be there"


def _others(count: int, *, matched: bool) -> str:
    if matched:
        return f"the other {count} {'is' if count == 1 else 'are'} within it"
    return f"of the other {count} the groups' medians do not tell"


def _sides(sure: Found, judged: int) -> Sequence[str]:
    said: list[str] = []
    for word, lower in (("lower", True), ("higher", False)):
        side = [one for one in sure if (one[1] < 1) is lower]
        if side:
            begin = f"{len(side)}" if said else f"{len(side)} of {_figures(judged)}"
            verb = "is" if len(side) == 1 else "are"
            where = "" if said else " beyond the noise"
            said.append(f"{begin} {verb} {word}{where}, {_amounts(side)} ({_places(side)})")
    return said


def _figures(count: int) -> str:
    return f"{count} figure{'' if count == 1 else 's'}"


def _amounts(side: Found) -> str:
    ratios = sorted((ratio for _, ratio in side), key=lambda ratio: max(ratio, 1 / ratio))
    nearest, farthest = difference(ratios[0]), difference(ratios[-1])
    return nearest if nearest == farthest else f"{nearest} to {farthest}"


def _places(side: Found) -> str:
    every = list(dict.fromkeys(place for place, _ in side))
    more = len(every) - MOST_PLACES
    return ", ".join(map(_name, every[:MOST_PLACES])) + (f" and {more} more" if more > 0 else "")


def _name(text: str) -> str:
    return Truncator(text).chars(LONGEST_NAME)
