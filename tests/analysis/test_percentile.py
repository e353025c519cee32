"""A machine's percentile among all comparable ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.percentile import standing

values = st.floats(min_value=1, max_value=1e11)


def test_a_percentile_is_the_share_of_others_beaten() -> None:
    found = standing(30.0, [10.0, 20.0, 40.0, 50.0, 60.0])
    assert found is not None
    assert (found.percentile, found.rank, found.beaten, found.others) == (40, 4, 2, 5)
    assert found.words == "Better than 2 of 5 other hosts."


def test_a_tie_counts_as_half() -> None:
    found = standing(30.0, [10.0, 30.0, 30.0, 40.0])
    assert found is not None
    assert (found.percentile, found.rank, found.tied) == (50, 2, 2)
    assert found.words == "Better than 1 of 4 other hosts, equal to 2."


def test_of_costs_the_lowest_is_best() -> None:
    found = standing(1.0, [2.0, 3.0], lower_is_better=True)
    assert found is not None
    assert (found.percentile, found.rank) == (100, 1)


def test_alone_a_machine_has_no_percentile() -> None:
    assert standing(1.0, []) is None


@given(st.lists(values, min_size=2, max_size=40, unique=True))
def test_the_best_has_100_and_the_worst_0(machines: list[float]) -> None:
    best, worst = max(machines), min(machines)
    first = standing(best, [one for one in machines if one != best])
    last = standing(worst, [one for one in machines if one != worst])
    assert first is not None
    assert last is not None
    assert (first.percentile, first.rank) == (100, 1)
    assert (last.percentile, last.rank) == (0, len(machines))


@given(values, st.lists(values, min_size=1))
def test_faster_and_slower_mirror_each_other(value: float, others: list[float]) -> None:
    up, down = standing(value, others), standing(value, others, lower_is_better=True)
    assert up is not None
    assert down is not None
    assert up.percentile + down.percentile == pytest.approx(100)
