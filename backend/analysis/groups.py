"""Groups of machines: median and quartiles of one vote each, and figures against a reference.

By docs/method.md, section 3.
"""

import math
from typing import NamedTuple

FEW_VOTES = 5
"""Up to so many votes a figure says how many of them are doubtful: one alone can move it."""


class GroupSummary(NamedTuple):
    """One cipher in one group, in the metric's unit; `n` is the number of votes.

    With n = 1 all figures are that one machine's: a point, not a distribution. The median of
    all such machines is from `low` to `high` with at least 95 %; None of fewer than six votes.
    """

    median: float
    q1: float
    q3: float
    minimum: float
    maximum: float
    n: int
    low: float | None = None
    high: float | None = None


def interval_rank(n: int) -> int:
    """Which vote, counted from either end, bounds the median with at least 95 %; 0: none does.

    By the sign test: how many of n votes are below the median is binomial, with half of n as its
    mean. David and Nagaraja, Order Statistics (2003), section 7.1; the binomial by the normal
    distribution, which errs to the safe side for every n.
    """
    return math.floor((n + 1) / 2 - 0.98 * math.sqrt(n))


def interpolated(n: int, fraction: float, below: float, above: float) -> float:
    """Return a percentile of n values from the two whose ranks are closest to it.

    Linear, as PostgreSQL's `percentile_cont`; `fraction` from 0 to 1.
    """
    rank = fraction * (n - 1)
    return below + (above - below) * (rank - int(rank))


class Ratio(NamedTuple):
    """A group's figure by the reference's, of `n` hosts.

    It is from `low` to `high` with at least 95 %; None where too few hosts tell, or none.
    `tool_changed`: the tool itself changed between the two: the ratio is none of the cipher.
    """

    ratio: float
    low: float | None
    high: float | None
    n: int
    tool_changed: bool = False

    @property
    def beyond_noise(self) -> bool | None:
        """Whether the figures surely differ: 1 is outside of the interval. None: not known."""
        if self.low is None or self.high is None or self.tool_changed:
            return None
        return self.low > 1 or self.high < 1


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
