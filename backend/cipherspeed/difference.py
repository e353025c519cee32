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
    """Summarise a series: median in bytes per second, spread as a fraction, number of tries.

    `try_seconds`: duration of a try, or None if the duration is unknown or does not affect the
    rate.
    """

    median: float
    spread: float | None
    n: int
    try_seconds: float | None = None


@dataclass(frozen=True)
class Ratio:
    """Store the second result divided by the first result, and a verdict on the second result.

    `noise`: relative difference that noise can explain. `verdict`: `untold` if the ratio exceeds
    the noise, but one of the results has fewer than three tries.
    """

    ratio: float
    noise: float
    verdict: Verdict

    @property
    def percent(self) -> float:
        return (self.ratio - 1) * 100


def ratio_of(first: Figure, second: Figure) -> Ratio:
    """Divide the second result by the first.

    noise = max(5 %, 2 * 1.2533 * sqrt(s1^2 / n1 + s2^2 / n2)) + `start_up_difference`, with the
    spread s and the number n of tries of each result. Runs of one host usually differ by up to 5 %.
    The second argument of max is twice the standard error of the difference of the medians.
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
    # With the larger of ratio and 1 / ratio, swapped results have opposite verdicts.
    if max(ratio, 1 / ratio) - 1 <= noise:
        return "same"
    if not known:
        return "untold"
    return "faster" if ratio > 1 else "slower"


def mean_ratio(ratios: Iterable[float]) -> float | None:
    values = list(ratios)
    return geometric_mean(values) if values else None
