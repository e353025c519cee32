"""Changes in a history: steps, noise, what one run cannot tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.over_time.series_changes import find_changes
from tests.cases import each

STEADY = [100.0, 101.0, 99.0, 100.0, 102.0]


def test_a_step_that_holds_is_one_confirmed_change() -> None:
    (change,) = find_changes([*STEADY, 80.0, 79.0, 80.0])
    assert (change.index, change.before, change.window) == (5, 100, 5)
    assert change.after == 79.5  # of the two runs that confirm it
    # Deviations 0, 1, 1, 0, 2: MAD 1, spread 1.4826 %, four of them 5.9304 %.
    assert change.threshold == pytest.approx(0.059304)
    assert (change.direction, change.confirmed) == ("slower", True)
    assert change.words == (
        "20.5 % slower than the median of 5 runs before (a change is more than 5.9 %)."
    )


def test_the_latest_run_alone_is_unconfirmed() -> None:
    (change,) = find_changes([*STEADY, 130.0])
    assert (change.direction, change.confirmed) == ("faster", False)
    assert "30.0 % faster" in change.words
    assert "unconfirmed" in change.words


def test_one_noisy_run_is_no_change() -> None:
    assert find_changes([*STEADY, 60.0, 100.0, 101.0]) == ()


def test_two_runs_that_differ_in_opposite_directions_are_no_change() -> None:
    assert find_changes([*STEADY, 60.0, 140.0, 100.0]) == ()


def test_exactly_five_percent_is_none() -> None:
    assert find_changes([100.0] * 5 + [105.0, 105.0]) == ()
    assert len(find_changes([100.0] * 5 + [105.1, 105.1])) == 1


def test_a_noisy_history_needs_a_larger_step() -> None:
    """Deviations from 100 of 10, 10, 0, 10, 10: spread 14.8 %, so 59 % is asked."""
    noisy = [90.0, 110.0, 100.0, 90.0, 110.0]
    assert find_changes([*noisy, 150.0, 150.0]) == ()
    assert find_changes([*noisy, 160.0, 160.0])[0].threshold == pytest.approx(0.59304)


def test_the_window_is_of_ten_runs() -> None:
    assert find_changes([*[200.0, 200.0], *[100.0] * 12])[0].window == 2
    assert find_changes([*[100.0] * 30, 50.0, 50.0])[0].window == 10


def test_after_a_change_runs_are_compared_with_the_new_level_only() -> None:
    back = [*STEADY, 80.0, 80.0, 80.0, 100.0, 100.0]
    first, second = find_changes(back)
    assert (first.index, second.index) == (5, 8)
    assert (second.before, second.window, second.direction) == (80, 3, "faster")


def test_a_single_run_before_is_enough_to_compare_with() -> None:
    (change,) = find_changes([100.0, 200.0, 200.0, 200.0])
    assert change.words.startswith("100.0 % faster than the run before")
    assert "too few runs before it" in change.words
    assert not change.confirmed
    assert [one.index for one in find_changes([100.0, 200.0, 200.0, 100.0])] == [3]


def test_costs_become_dearer_and_cheaper() -> None:
    assert find_changes([1.0, 1.0, 1.5, 1.5], lower_is_better=True)[0].direction == "dearer"
    assert find_changes([1.0, 1.0, 0.5, 0.5], lower_is_better=True)[0].direction == "cheaper"


@each("history", ([], [100.0], [100.0, 104.0]))
def test_without_runs_to_compare_there_is_no_change(history: list[float]) -> None:
    assert find_changes(history) == ()


def test_a_rate_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="above zero"):
        find_changes([100.0, 0.0])


histories = st.lists(st.floats(min_value=1, max_value=1e10), max_size=30)


@given(histories)
def test_only_the_latest_run_or_one_of_the_first_may_be_unconfirmed(history: list[float]) -> None:
    for change in find_changes(history):
        assert change.confirmed or change.window < 3 or change.index == len(history) - 1
        assert abs(change.ratio - 1) > 0.05


@given(st.lists(st.integers(min_value=1, max_value=10**6), max_size=20))
def test_the_unit_does_not_matter(history: list[int]) -> None:
    plain = find_changes([float(value) for value in history])
    scaled = find_changes([value * 1024.0 for value in history])
    assert [one.index for one in scaled] == [one.index for one in plain]


def test_tries_of_another_length_are_no_change() -> None:
    """The first 0.1 s of a stream are slow: 0.9 s against 3 s is 7.8 % of the rate."""
    quick, thorough = [100.0] * 4, [107.0] * 4
    lengths = [0.9] * 4 + [3.0] * 4
    assert len(find_changes(quick + thorough)) == 1
    assert find_changes(quick + thorough, seconds=lengths) == ()
    assert find_changes(thorough + quick, seconds=lengths[::-1]) == ()
    assert len(find_changes(quick + thorough, seconds=[0.9] * 8)) == 1


def test_what_is_more_than_the_length_of_tries_makes_is_a_change() -> None:
    lengths = [0.9] * 4 + [3.0] * 4
    (change,) = find_changes([100.0] * 4 + [120.0] * 4, seconds=lengths)
    assert change.threshold == pytest.approx(0.05 + 0.1 / 0.9 - 0.1 / 3.0)
    # A transfer of fixed size takes twice as long on a machine that became half as fast.
    (change,) = find_changes([100.0] * 4 + [50.0] * 4, seconds=[1.0] * 4 + [2.0] * 4)
    assert change.direction == "slower"


def test_lengths_that_nobody_knows_allow_for_nothing() -> None:
    assert len(find_changes([100.0] * 4 + [107.0] * 4, seconds=[None] * 4 + [3.0] * 4)) == 1
    assert find_changes([100.0, 100.0, 1e9], seconds=[1e-300, 0.5, 1e300])[0].threshold <= 1.05
