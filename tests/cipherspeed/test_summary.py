import math
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.summary import summarise
from tests.cases import each

rates = st.lists(st.floats(min_value=1, max_value=1e11), min_size=1, max_size=50)


def test_median_range_and_spread_of_a_worked_series() -> None:
    # Deviations from 100: 2, 0, 1, 10, 1 -> median 1 -> 1.4826 % of 100.
    summary = summarise([98.0, 100.0, 101.0, 110.0, 99.0])
    assert (summary.median, summary.minimum, summary.maximum, summary.n) == (100, 98, 110, 5)
    assert summary.spread == pytest.approx(0.014826)
    assert not summary.noisy


def test_one_try_has_no_spread() -> None:
    summary = summarise([5e8])
    assert summary.spread == 0
    assert not summary.noisy


def test_three_scattered_tries_are_noisy() -> None:
    assert summarise([100.0, 110.0, 90.0]).noisy


def test_two_scattered_tries_cannot_tell() -> None:
    assert not summarise([100.0, 200.0]).noisy


@each("impossible", ([], [0.0], [-1.0, 5.0]))
def test_rates_that_are_none_are_refused(impossible: list[float]) -> None:
    with pytest.raises(ValueError, match="above zero"):
        summarise(impossible)


@given(rates)
def test_the_median_lies_between_the_extremes(values: list[float]) -> None:
    summary = summarise(values)
    assert summary.minimum <= summary.median <= summary.maximum
    assert summary.median == median(values)


@given(rates, st.floats(min_value=0.01, max_value=100))
def test_spread_does_not_depend_on_the_unit(values: list[float], factor: float) -> None:
    scaled = summarise([value * factor for value in values])
    assert math.isclose(scaled.spread, summarise(values).spread, rel_tol=1e-6, abs_tol=1e-9)
