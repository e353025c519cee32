from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.changes import Observation, Step, find_steps, taken_back, verdict_changes
from tests.cases import each

STEADY = [100.0, 101.0, 99.0, 100.0, 102.0]


def steps(
    levels: list[float], spread: float = 0.0, seconds: Sequence[float | None] = ()
) -> list[Step[str]]:
    lengths = seconds or [None] * len(levels)
    pairs = zip(levels, lengths, strict=True)
    return find_steps([{"gcm": Observation(level, spread, length)} for level, length in pairs])


def test_a_step_lasts_two_runs_and_is_dated_to_the_first() -> None:
    (step,) = steps([*STEADY, 80.0, 79.0])
    assert (step.index, step.window, step.before, step.after) == (5, 5, {"gcm": 100}, {"gcm": 79.5})
    assert step.ratio == pytest.approx(0.795)
    # Deviations 0, 1, 1, 0, 2: MAD 1, spread 1.4826 %, four of them 5.9304 %.
    assert step.threshold == pytest.approx(0.059304)
    assert step.confidence == "high"


@each(
    "later",
    ([60.0], [60.0, 100.0, 101.0], [60.0, 140.0, 100.0]),
)
def test_one_run_is_no_step(later: list[float]) -> None:
    assert steps([*STEADY, *later]) == []


def test_five_percent_are_none() -> None:
    assert steps([100.0] * 5 + [105.0, 105.0]) == []
    assert len(steps([100.0] * 5 + [105.1, 105.1])) == 1


def test_a_noisy_history_needs_a_larger_step() -> None:
    # The deviations from 100 are 10, 10, 0, 10 and 10: spread 14.8 %, threshold 59 %.
    noisy = [90.0, 110.0, 100.0, 90.0, 110.0]
    assert steps([*noisy, 150.0, 150.0]) == []
    assert steps([*noisy, 160.0, 160.0])[0].threshold == pytest.approx(0.59304)


@each(("spread", "found"), ((0.005, 1), (0.02, 0)))
def test_with_two_runs_before_it_the_spread_of_the_tries_is_the_scatter(
    spread: float, found: int
) -> None:
    changes = steps([100.0, 100.4, 93.0, 93.3], spread)
    assert len(changes) == found
    assert all(change.confidence == "low" for change in changes)


def test_two_runs_that_scatter_more_than_their_tries_say_so() -> None:
    assert steps([100.0, 106.0, 93.0, 93.0], 0.001) == []
    assert steps([100.0, 100.0, 86.0, 93.0], 0.001) == []


def test_a_level_is_compared_with_the_one_before_it_alone() -> None:
    first, second = steps([*STEADY, 80.0, 80.0, 80.0, 100.0, 100.0])
    assert (first.index, second.index) == (5, 8)
    assert (second.before["gcm"], second.window) == (80, 3)
    assert steps([200.0] * 2 + [100.0] * 30 + [50.0] * 2)[1].window == 10


def test_two_runs_beyond_the_noise_whose_level_does_not_last_are_no_step() -> None:
    assert len(steps([*STEADY, 93.5, 94.0])) == 1
    assert steps([*STEADY, 93.5, 94.0, 97.0, 98.0, 98.0, 97.0, 98.0]) == []


def test_a_step_that_noise_hides_at_first_is_dated_to_its_first_run() -> None:
    (step,) = steps([*STEADY, 95.5, 92.0, 92.5, 93.0])
    assert step.index == 5


def test_series_that_come_and_go_move_no_level() -> None:
    few = {"gcm": Observation(100.0), "ctr": Observation(5.0)}
    more = {"cbc": Observation(1000.0), "xts": Observation(7000.0)}
    assert find_steps([few] * 3 + [{**few, **more}] * 3 + [more] * 3) == []
    later = {"gcm": Observation(70.0), "ctr": Observation(3.5), **more}
    (step,) = find_steps([few] * 3 + [later] * 4)
    assert step.ratio == pytest.approx(0.7)
    assert set(step.ratios) == {"gcm", "ctr"}


def test_a_minority_of_the_series_makes_no_step() -> None:
    calm = {name: Observation(100.0) for name in "abc"}
    assert find_steps([calm] * 4 + [{**calm, "a": Observation(50.0)}] * 4) == []


def test_tries_of_another_length_are_no_change() -> None:
    # The first 0.1 s of a stream are slow: 0.9 s against 3 s is 7.8 % of the rate.
    quick, thorough = [100.0] * 4, [107.0] * 4
    lengths = [0.9] * 4 + [3.0] * 4
    assert len(steps(quick + thorough)) == 1
    assert steps(quick + thorough, seconds=lengths) == []
    assert steps(thorough + quick, seconds=lengths[::-1]) == []
    (step,) = steps([100.0] * 4 + [120.0] * 4, seconds=lengths)
    assert step.threshold == pytest.approx(0.05 + 0.1 / 0.9 - 0.1 / 3.0)


noises = st.floats(0.0, 0.01)


@given(st.integers(0, 10_000), noises)
def test_constant_noise_has_no_step(seed: int, noise: float) -> None:
    random = Random(seed)
    assert steps([100 * random.gauss(1, noise) for _ in range(60)], noise) == []


@given(st.integers(0, 10_000), st.integers(2, 30), st.sampled_from((0.9, 1.1)))
def test_a_lasting_step_of_ten_percent_is_found_with_date_and_size(
    seed: int, before: int, ratio: float
) -> None:
    # Four series show the step despite variation of 1 %, which two runs hardly measure.
    random = Random(seed)
    history = [
        {
            series: Observation(series * level * random.gauss(1, 0.01), 0.01)
            for series in (1, 2, 3, 4)
        }
        for level in [1.0] * before + [ratio] * 10
    ]
    found = find_steps(history)
    assert [step.index for step in found] == [before]
    assert found[0].ratio == pytest.approx(ratio, abs=0.02)


@given(st.lists(st.integers(1, 10**6), max_size=20))
def test_the_unit_does_not_matter(history: list[int]) -> None:
    plain, scaled = (
        steps([float(speed) for speed in history]),
        steps([speed * 1024.0 for speed in history]),
    )
    assert [step.index for step in scaled] == [step.index for step in plain]


def test_a_later_step_that_leads_back_takes_one_back() -> None:
    assert taken_back([0.8, 1.25]) == [1, None]
    assert taken_back([0.8, 0.9, 1.4]) == [2, None, None]
    assert taken_back([0.8, 1.1]) == [None, None]


def test_verdicts_change_when_a_second_run_says_so() -> None:
    assert verdict_changes(list("aaabbb")) == [3]
    assert verdict_changes(list("aaab")) == []
    assert verdict_changes(list("aabaa")) == []
    assert verdict_changes(list("aabbaa")) == [2, 4]
    assert verdict_changes([]) == []
