"""Quantiles of Student's t, for uncertainties estimated from few figures."""

import math
from statistics import NormalDist


def student_quantile(probability: float, degrees: int) -> float:
    """The t that a variable of so many degrees of freedom stays below with this probability.

    `probability` from 0.5 (exclusive) to 1 (exclusive). One and two degrees in closed form,
    more by G. W. Hill, *Algorithm 396: Student's t-quantiles*, CACM 13 (1970): six digits.
    """
    if not (0.5 < probability < 1 and degrees >= 1):
        raise ValueError("a quantile needs a probability in (0.5, 1) and a degree of freedom")
    tails = 2 * (1 - probability)
    if degrees == 1:
        return 1 / math.tan(tails * math.pi / 2)
    if degrees == 2:
        return math.sqrt(2 / (tails * (2 - tails)) - 2)
    return _hill(tails, degrees)


def _hill(tails: float, n: int) -> float:
    """Hill's asymptotic expansion; names as in the paper."""
    a = 1 / (n - 0.5)
    b = 48 / (a * a)
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * n
    y = (d * tails) ** (2 / n)
    if y > 0.05 + a:
        return _near_the_middle(tails, n, a, b, c, d)
    y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) * (
        n + 1
    ) / (n + 2) + 1 / y
    return math.sqrt(n * y)


def _near_the_middle(tails: float, n: int, a: float, b: float, c: float, d: float) -> float:
    """Hill's branch from the normal quantile, for tails that are not far out."""
    x = NormalDist().inv_cdf(tails / 2)
    y = x * x
    if n < 5:
        c += 0.3 * (n - 4.5) * (x + 0.6)
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
    return math.sqrt(n * math.expm1(a * y * y))
