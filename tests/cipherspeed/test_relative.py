import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.groups import GroupSummary, Ratio, ratio_of_medians
from tests.cases import each
from tests.compare.comparison_reference import interval_rank, summarise_group


def bounded(group: GroupSummary, base: GroupSummary) -> tuple[float, float, float]:
    found = ratio_of_medians(group, base, exact=False)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.ratio, found.low, found.high


figures = st.lists(st.floats(1e3, 1e10), min_size=6, max_size=40)


@each("n", (*range(1, 200), 1000))
def test_the_interval_of_a_median_holds_at_least_95_percent(n: int) -> None:
    rank = interval_rank(n)
    outside = 2 * sum(comb(n, below) for below in range(rank)) / 2**n
    assert outside <= 0.05
    assert (rank > 0) == (n >= 6)


@given(figures, figures)
def test_a_ratio_lies_in_its_interval_and_turns_over_with_the_sides(
    one: list[float], other: list[float]
) -> None:
    group, base = summarise_group(one), summarise_group(other)
    ratio, low, high = bounded(group, base)
    assert low <= ratio <= high
    back, _, highest = bounded(base, group)
    assert (ratio * back, low * highest) == pytest.approx((1, 1))


def test_the_interval_of_a_ratio_joins_the_margins_of_both_medians_on_logarithms() -> None:
    # MOVER: 2 exp(-hypot(ln 10/8, ln 6/5)) and 2 exp(hypot(ln 14/10, ln 5/4))
    group = summarise_group([8.0, 9.0, 9.5, 10.5, 12.0, 14.0])
    base = summarise_group([4.0, 4.5, 4.9, 5.1, 5.5, 6.0])
    assert bounded(group, base) == pytest.approx((2.0, 1.4993, 2.9949), rel=1e-4)


def test_few_hosts_have_a_ratio_and_no_interval() -> None:
    ratio = ratio_of_medians(summarise_group([2.0] * 5), summarise_group([1.0] * 9), exact=False)
    assert ratio == Ratio(2.0, None, None, 5)
    assert ratio.beyond_noise is None


def test_a_figure_of_nought_has_no_ratio() -> None:
    assert ratio_of_medians(summarise_group([0.0]), summarise_group([1.0]), exact=False) is None


@each("share", (1.0, 0.93))
def test_intervals_of_different_hosts_hold_the_true_ratio(share: float) -> None:
    # The rates of hosts vary by a third. At least 94 % of 400 intervals must be correct.
    chance = random.Random(19)

    def group(factor: float, size: int) -> list[float]:
        return [factor * chance.lognormvariate(20, 0.3) for _ in range(size)]

    held = 0
    for _ in range(400):
        _, low, high = bounded(summarise_group(group(share, 12)), summarise_group(group(1, 20)))
        held += low <= share <= high
    assert held >= 376
