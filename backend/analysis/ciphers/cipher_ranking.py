"""The order of ciphers: the safer status first, then the measured rate (docs/method.md)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from analysis.ciphers.cipher_catalogue import STATUSES, Assessment, Cipher


@dataclass(frozen=True)
class Candidate:
    """A cipher with its rate and the bounds within which another ties with it.

    All in one unit: bytes per second, or shares of the best. A tie may cost so much and no more,
    however noisy the rate is. `unlimited` is the rate without a link; it decides between ciphers
    that are equal otherwise.
    """

    cipher: Cipher
    assessment: Assessment
    rate: float
    low: float
    high: float
    unlimited: float


@dataclass(frozen=True)
class NoisyCandidate(Candidate):
    """A candidate in bytes per second; `least` and `most` are what all its noise allows."""

    least: float
    most: float


Ranked = TypeVar("Ranked", bound=Candidate)


OPEN_END = 3
"""A gain whose upper bound is more than this times itself is stated by its lower bound alone."""


@dataclass(frozen=True)
class Gain:
    """A cipher against the one in use today (`over`): ratio of the two rates.

    `lowest` and `highest` are the ratio's bounds by the noise of both.
    """

    over: str
    ratio: float
    lowest: float
    highest: float
    cpu_seconds_saved_per_gb: float | None = None

    @property
    def percent(self) -> float:
        """Faster by so many percent; negative: slower."""
        return (self.ratio - 1) * 100

    @property
    def bounds(self) -> str:
        """ "1.96 to 2.04"; only "at least 1.12" where the other end is beyond any use."""
        return self.at_least if self.is_open else f"{self.lowest:.2f} to {self.highest:.2f}"

    @property
    def at_least(self) -> str:
        """ "at least 1.12", rounded down."""
        return f"at least {math.floor(self.lowest * 100) / 100:.2f}"

    @property
    def is_open(self) -> bool:
        """Whether the upper bound says nothing any more."""
        return self.highest > OPEN_END * self.ratio

    @property
    def beyond_noise(self) -> bool:
        """Whether the two differ by more than the noise."""
        return self.lowest > 1 or self.highest < 1


def in_order(candidates: Iterable[Ranked]) -> list[Ranked]:
    """The candidates as they should be preferred, whatever order they come in.

    Within a status the next one is the safest of those that cannot be told from the fastest:
    those whose upper bound reaches the highest lower bound. A cipher that is slower than the
    first beyond the noise can therefore never displace it.
    """
    ordered: list[Ranked] = []
    left = list(candidates)
    while left:
        chosen = _next(left)
        left.remove(chosen)
        ordered.append(chosen)
    return ordered


def _next(left: list[Ranked]) -> Ranked:
    safest = min(STATUSES.index(one.assessment.status) for one in left)
    rivals = [one for one in left if one.assessment.status == STATUSES[safest]]
    certain = max(one.low for one in rivals)
    tied = [one for one in rivals if one.high >= certain]
    return min(
        tied, key=lambda one: (one.cipher.strength, -one.rate, -one.unlimited, one.cipher.name)
    )


def gain(one: NoisyCandidate, today: NoisyCandidate, cpu_saved: float | None = None) -> Gain:
    """`one` against what is used `today`; `cpu_saved` are CPU seconds per GB."""
    if one.cipher.name == today.cipher.name:
        return Gain(today.cipher.name, 1.0, 1.0, 1.0, 0.0 if cpu_saved is not None else None)
    return Gain(
        over=today.cipher.name,
        ratio=one.rate / today.rate,
        lowest=one.least / today.most,
        highest=one.most / today.least,
        cpu_seconds_saved_per_gb=cpu_saved,
    )
