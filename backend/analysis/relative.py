"""Figures against a reference, matched hosts and scores (docs/method.md, section 3)."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import geometric_mean
from typing import NamedTuple

from analysis.groups import GroupSummary, summarise_group


class Ratio(NamedTuple):
    """A group's figure by the reference's, of `n` hosts.

    It is from `low` to `high` with at least 95 %; None where too few hosts tell, or none.
    """

    ratio: float
    low: float | None
    high: float | None
    n: int

    @property
    def beyond_noise(self) -> bool | None:
        """Whether the figures surely differ: 1 is outside of the interval. None: not known."""
        if self.low is None or self.high is None:
            return None
        return self.low > 1 or self.high < 1


class Score(NamedTuple):
    """The geometric mean of a group's figures of `ciphers` ciphers, in the metric's unit.

    `ratio`: that of their ratios to the reference, None where a cipher has none.
    """

    value: float
    ciphers: int
    ratio: float | None = None


def ratio_of_medians(group: GroupSummary, reference: GroupSummary, *, exact: bool) -> Ratio | None:
    """The ratio of two medians of different hosts; None where one is not above zero.

    `exact`: the reference is one host, whose figure is taken as it is. The interval is made of
    those of the two medians, on logarithms: MOVER, Zou and Donner, Statistics in Medicine 27
    (2008), 1693-1702.
    """
    if min(group.minimum, reference.minimum) <= 0:
        return None
    ratio = group.median / reference.median
    own = _margins(group)
    other = (0.0, 0.0) if exact else _margins(reference)
    if own is None or other is None:
        return Ratio(ratio, None, None, group.n)
    low = ratio * math.exp(-math.hypot(own[0], other[1]))
    high = ratio * math.exp(math.hypot(own[1], other[0]))
    return Ratio(ratio, low, high, group.n)


def _margins(one: GroupSummary) -> tuple[float, float] | None:
    """How far below and above its median the interval reaches, on logarithms."""
    if one.low is None or one.high is None:
        return None
    return math.log(one.median / one.low), math.log(one.high / one.median)


def ratio_of_hosts(summary: GroupSummary) -> Ratio:
    """The summary of the ratios that hosts themselves have: the sign test's interval."""
    return Ratio(summary.median, summary.low, summary.high, summary.n)


def ratio_summary(one: Ratio) -> GroupSummary:
    """A ratio as charts draw it: its interval as the quartiles of its bar."""
    low, high = one.low or one.ratio, one.high or one.ratio
    return GroupSummary(one.ratio, low, high, low, high, one.n, one.low, one.high)


def matched_ratios(
    values: Mapping[tuple[str, int, str], float], reference: str
) -> dict[tuple[str, str], Ratio]:
    """(group, host, cipher) -> value, of matched hosts; (group, cipher) -> ratio to `reference`."""
    ratios = defaultdict[tuple[str, str], list[float]](list)
    for (group, host, cipher), value in values.items():
        base = values.get((reference, host, cipher))
        if group != reference and base and base > 0:
            ratios[group, cipher].append(value / base)
    return {key: ratio_of_hosts(summarise_group(found)) for key, found in ratios.items()}


def score(
    values: Mapping[str, GroupSummary], ratios: Mapping[str, Ratio], ciphers: Iterable[str]
) -> Score | None:
    """Of a group that has a figure above zero of every one of these ciphers; None of another."""
    wanted = list(ciphers)
    medians = [values[cipher].median for cipher in wanted if cipher in values]
    if not wanted or len(medians) < len(wanted) or min(medians) <= 0:
        return None
    known = [ratios[cipher].ratio for cipher in wanted if cipher in ratios]
    ratio = geometric_mean(known) if len(known) == len(wanted) and min(known) > 0 else None
    return Score(geometric_mean(medians), len(wanted), ratio)
