"""What a comparison with a reference comes to: how many figures surely differ, how much, where."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.comparison import Comparison

BY_CHANCE = 0.05
"""The share of intervals that miss 1 where nothing differs (docs/method.md, section 3)."""


@dataclass(frozen=True)
class Differing:
    """Figures that are surely on one side of the reference.

    `nearest` and `farthest` are ratios to it, of those the nearest to 1 and the farthest from it;
    `places` the groups that they are of, of a comparison that is split by one value its splits.
    """

    figures: int
    nearest: float
    farthest: float
    places: tuple[str, ...]


@dataclass(frozen=True)
class RelativeFindings:
    """Of `judged` figures, which have an interval, those that differ; of others nobody knows."""

    judged: int
    unjudged: int
    lower: Differing | None
    higher: Differing | None

    @property
    def differing(self) -> int:
        """Figures that surely differ."""
        return sum(side.figures for side in (self.lower, self.higher) if side)

    @property
    def may_be_chance(self) -> bool:
        """Whether no more differ than would where nothing does."""
        return 0 < self.differing <= BY_CHANCE * self.judged


def relative_findings(comparison: Comparison) -> RelativeFindings | None:
    """Of all figures but those of the reference; None where there are none."""
    groups = [group for group in comparison.groups if group.ratios]
    if not groups:
        return None
    named = len({group.key for group in groups}) > 1
    found = [
        (group.name if named or not group.split_label else group.split_label, ratio)
        for group in groups
        for ratio in group.ratios.values()
    ]
    judged = [(place, ratio.ratio) for place, ratio in found if ratio.beyond_noise is not None]
    sure = [(place, ratio.ratio) for place, ratio in found if ratio.beyond_noise]
    return RelativeFindings(
        judged=len(judged),
        unjudged=len(found) - len(judged),
        lower=_side([one for one in sure if one[1] < 1]),
        higher=_side([one for one in sure if one[1] >= 1]),
    )


def _side(found: Sequence[tuple[str, float]]) -> Differing | None:
    if not found:
        return None
    ratios = sorted((ratio for _, ratio in found), key=lambda ratio: max(ratio, 1 / ratio))
    places = tuple(dict.fromkeys(place for place, _ in found))
    return Differing(len(found), ratios[0], ratios[-1], places)
