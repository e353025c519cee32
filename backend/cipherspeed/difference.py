"""Compare two results of a series (docs/method.md, section 6)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Literal

from cipherspeed.changes import SMALLEST_CHANGE, start_up_difference
from cipherspeed.summary import MEDIAN_TO_MEAN, NOISY_MINIMUM_TRIES

STANDARD_ERRORS = 2

Verdict = Literal["faster", "slower", "same", "untold"]


@dataclass(frozen=True)
class Figure:
    """Represent a series: median in bytes per second, spread (a fraction), and number of tries.

    `try_seconds`: duration of a pipeline's try; None if unknown or irrelevant.
    """

    median: float
    spread: float | None
    n: int
    try_seconds: float | None = None


@dataclass(frozen=True)
class Ratio:
    """Represent the ratio second / first, and the relative difference that noise can explain.

    `verdict`: faster or slower if the ratio exceeds the noise; same if it does not; untold if
    it exceeds 5 % but a side has fewer than three tries, too few to estimate their variation.
    """

    ratio: float
    noise: float
    verdict: Verdict

    @property
    def percent(self) -> float:
        """Return the relative difference of the second result in per cent; negative if slower."""
        return (self.ratio - 1) * 100


def ratio_of(first: Figure, second: Figure) -> Ratio:
    """Compare the second result with the first.

    noise = max(5 %, 2 x 1.2533 x sqrt(s1^2/n1 + s2^2/n2)). This is twice the standard error of
    the difference of two medians, and at least the usual difference between runs of a host.
    Pipelines with tries of different durations get an allowance. The larger of ratio and
    1/ratio is used, so that the verdict is symmetric.
    """
    ratio = second.median / first.median
    known = min(first.n, second.n) >= NOISY_MINIMUM_TRIES
    noise = max(SMALLEST_CHANGE, _margin(first, second) if known else 0.0)
    noise += start_up_difference(first.try_seconds, second.try_seconds)
    return Ratio(ratio, noise, _verdict(ratio, noise, known))


def _margin(first: Figure, second: Figure) -> float:
    variance = sum((side.spread or 0.0) ** 2 / side.n for side in (first, second))
    return STANDARD_ERRORS * MEDIAN_TO_MEAN * math.sqrt(variance)


def _verdict(ratio: float, noise: float, known: bool) -> Verdict:
    if max(ratio, 1 / ratio) - 1 <= noise:
        return "same"
    if not known:
        return "untold"
    return "faster" if ratio > 1 else "slower"


def mean_ratio(ratios: Iterable[float]) -> float | None:
    """Return the geometric mean of positive ratios, or None if there are none."""
    values = list(ratios)
    return geometric_mean(values) if values else None
