"""One series, several tries: median and spread (docs/method.md, section 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

MAD_TO_SIGMA = 1.4826
"""Scales the median absolute deviation to the standard deviation of a normal distribution."""

NOISY_SPREAD = 0.05
NOISY_MINIMUM_TRIES = 3


@dataclass(frozen=True)
class SeriesSummary:
    """Statistics of one series' tries; rates in bytes per second, `spread` as a fraction.

    `maximum` is also the "undisturbed" rate: other load on a machine only ever slows a try.
    """

    median: float
    minimum: float
    maximum: float
    n: int
    spread: float
    noisy: bool


def relative_spread(values: Sequence[float]) -> float:
    """s = 1.4826 * median(|x - median|) / median, of one value or more with a median above 0."""
    middle = median(values)
    return MAD_TO_SIGMA * median(abs(x - middle) for x in values) / middle


def summarise(throughputs: Sequence[float]) -> SeriesSummary:
    """Median, range and spread s = 1.4826 * median(|x - median|) / median.

    `throughputs` are bytes per second, at least one, each above zero; `ValueError` otherwise.
    Noisy is a spread above 5 % over three tries or more: fewer tries cannot tell.
    """
    if not throughputs or min(throughputs) <= 0:
        raise ValueError("a series needs at least one throughput, each above zero")
    spread = relative_spread(throughputs)
    return SeriesSummary(
        median=median(throughputs),
        minimum=min(throughputs),
        maximum=max(throughputs),
        n=len(throughputs),
        spread=spread,
        noisy=spread > NOISY_SPREAD and len(throughputs) >= NOISY_MINIMUM_TRIES,
    )
