import pytest
from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.difference import Figure, mean_ratio, ratio_of
from tests.cases import each


def test_a_difference_beyond_the_noise_is_told() -> None:
    found = ratio_of(Figure(100e6, 0.01, 5), Figure(120e6, 0.01, 5))
    assert found.ratio == pytest.approx(1.2)
    assert found.percent == pytest.approx(20)
    assert (found.noise, found.verdict) == (0.05, "faster")


def test_noisy_tries_widen_what_counts_as_noise() -> None:
    # 2 x 1.2533 x sqrt(0.09/9 + 0.09/9) = 2.5066 x 0.141421
    found = ratio_of(Figure(100e6, 0.3, 9), Figure(130e6, 0.3, 9))
    assert found.noise == pytest.approx(0.354487, rel=1e-4)
    assert found.verdict == "same"


def test_less_than_five_percent_is_never_a_difference() -> None:
    assert ratio_of(Figure(100e6, 0.0, 9), Figure(104e6, 0.0, 9)).verdict == "same"


@each(("second", "verdict"), ((104e6, "same"), (200e6, "untold")))
def test_one_try_cannot_tell_how_far_it_scatters(second: float, verdict: str) -> None:
    assert ratio_of(Figure(100e6, 0.0, 1), Figure(second, 0.01, 5)).verdict == verdict


figures = st.builds(
    Figure,
    st.floats(1e3, 1e11),
    st.one_of(st.none(), st.floats(0, 1)),
    st.integers(1, 100),
)


@given(figures, figures)
def test_swapping_the_sides_swaps_the_verdict_alone(first: Figure, second: Figure) -> None:
    there, back = ratio_of(first, second), ratio_of(second, first)
    swapped = {"faster": "slower", "slower": "faster", "same": "same", "untold": "untold"}
    assert back.verdict == swapped[there.verdict]
    assert back.noise == pytest.approx(there.noise)
    assert back.ratio == pytest.approx(1 / there.ratio)


def test_ratios_are_averaged_geometrically() -> None:
    assert mean_ratio([2.0, 0.5]) == pytest.approx(1.0)
    assert mean_ratio([1.0, 4.0]) == pytest.approx(2.0)
    assert mean_ratio([]) is None


def test_tries_of_another_length_make_no_difference() -> None:
    # Pipeline tries of 0.9 s and of 3 s may differ by 7.8 %.
    quick, thorough = Figure(100e6, 0.0, 3, 0.9), Figure(107e6, 0.0, 15, 3.0)
    assert ratio_of(quick, thorough).verdict == "same"
    assert ratio_of(thorough, quick).verdict == "same"
    assert ratio_of(quick, Figure(107e6, 0.0, 15, 0.9)).verdict == "faster"
    assert ratio_of(quick, Figure(120e6, 0.0, 15, 3.0)).verdict == "faster"
