"""Student's t against a printed table (Fisher and Yates, table III)."""

from math import exp, lgamma, log1p, pi, sqrt

import pytest

from analysis.profiles.profile_fit import student_quantile
from tests.cases import each


@each(
    ("degrees", "at_95", "at_975", "at_995"),
    (
        (1, 6.314, 12.706, 63.657),
        (2, 2.920, 4.303, 9.925),
        (3, 2.353, 3.182, 5.841),
        (4, 2.132, 2.776, 4.604),
        (10, 1.812, 2.228, 3.169),
        (30, 1.697, 2.042, 2.750),
        (120, 1.658, 1.980, 2.617),
    ),
)
def test_quantiles_are_those_of_the_printed_table(
    degrees: int, at_95: float, at_975: float, at_995: float
) -> None:
    assert student_quantile(0.95, degrees) == pytest.approx(at_95, abs=0.0006)
    assert student_quantile(0.975, degrees) == pytest.approx(at_975, abs=0.0006)
    assert student_quantile(0.995, degrees) == pytest.approx(at_995, abs=0.0006)


@each(("probability", "degrees"), ((0.5, 3), (1.0, 3), (0.9, 0)))
def test_there_is_no_quantile_without_a_tail_or_a_degree_of_freedom(
    probability: float, degrees: int
) -> None:
    with pytest.raises(ValueError, match="degree of freedom"):
        student_quantile(probability, degrees)


@each("degrees", (3, 4, 5, 40))
def test_near_the_middle_a_quantile_still_has_its_tail(degrees: int) -> None:
    t = student_quantile(0.7, degrees)
    assert _area_below(t, degrees) == pytest.approx(0.7, abs=2e-5)


def _area_below(t: float, degrees: int) -> float:
    """0.5 + the density's integral from 0 to t, by Simpson's rule."""
    scale = exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2)) / sqrt(degrees * pi)
    steps = 200
    points = [i * t / steps for i in range(steps + 1)]
    heights = [scale * exp(-(degrees + 1) / 2 * log1p(x * x / degrees)) for x in points]
    weights = [1.0, *([4.0, 2.0] * (steps // 2))[:-1], 1.0]
    return 0.5 + sum(w * h for w, h in zip(weights, heights, strict=True)) * t / steps / 3
