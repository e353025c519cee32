from collections.abc import Sequence
from operator import itemgetter

from django.utils.text import Truncator

from cipherspeed.groups import Comparison
from core.formatting import difference

BY_CHANCE = 0.05
"""Expected fraction of confidence intervals that exclude 1 by chance (docs/method.md, "Comparing
groups")."""

MOST_PLACES = 4
LONGEST_NAME = 40

Found = Sequence[tuple[str, float]]
"""List of (name of a group or split value, ratio to the reference)."""


def finding(comparison: Comparison) -> str:
    """Describe in a sentence how many results differ significantly from the reference.

    Return an empty string if there is no reference, or if no ratio has a confidence interval.
    """
    related = [group for group in comparison.groups if group.ratios]
    named = len({group.key for group in related}) > 1
    figures = [
        (group.name if named or not group.split_label else group.split_label, ratio)
        for group in related
        for ratio in group.ratios.values()
    ]
    judged = sum(ratio.beyond_noise is not None for _, ratio in figures)
    sure = [(place, ratio.ratio) for place, ratio in figures if ratio.beyond_noise]
    reference = comparison.relative_to
    if reference is None or not judged:
        return ""
    lower, higher = (
        [figure for figure in sure if (figure[1] < 1) is is_lower] for is_lower in (True, False)
    )
    parts = [
        (len(side), f"{{}} {_amounts(side)} {word} ({_places(side)})", ("is", "are"))
        for word, side in (("lower", lower), ("higher", higher))
        if side
    ]
    parts.append((judged - len(sure), "{} no measurable difference", ("shows", "show")))
    parts.append((len(figures) - judged, "{} too few hosts", ("has", "have")))
    count = f" of {len(figures)} result{'' if len(figures) == 1 else 's'}"
    words: list[str] = []
    for number, text, verbs in filter(itemgetter(0), parts):
        words.append(f"{number}{'' if words else count} {text.format(verbs[number > 1])}")
    chance = " So few differences may be chance." if 0 < len(sure) <= BY_CHANCE * judged else ""
    against = _name(reference.label or reference.key)
    return f"Compared with {against}, {'; '.join(words)}.{chance}"


def _amounts(side: Found) -> str:
    ratios = sorted((ratio for _, ratio in side), key=lambda ratio: max(ratio, 1 / ratio))
    nearest, farthest = difference(ratios[0]), difference(ratios[-1])
    amounts = nearest if nearest == farthest else f"{nearest} to {farthest}"
    return amounts.replace("−", "").replace("+", "")


def _places(side: Found) -> str:
    every = list(dict.fromkeys(place for place, _ in side))
    more = len(every) - MOST_PLACES
    return ", ".join(map(_name, every[:MOST_PLACES])) + (f" and {more} more" if more > 0 else "")


def _name(text: str) -> str:
    return Truncator(text).chars(LONGEST_NAME)
