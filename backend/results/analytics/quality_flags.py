"""Which results are doubtful: noisy, or of a run that was measured disturbed.

Bits, kept with each result of the copy: one of them for what disturbed its run, one for the tries
behind each of its figures that scatter by more than they should.
"""

from analysis.comparison import UNITS
from analysis.summary import NOISY_MINIMUM_TRIES, NOISY_SPREAD

DISTURBED, NOISY, NOISY_CPU_COST, NOISY_CPU_BOUND = 1, 2, 4, 8


def _scatters(spread: str) -> str:
    return f"coalesce(m.n >= {NOISY_MINIMUM_TRIES} AND m.{spread} > {NOISY_SPREAD}, false)"


DOUBTS = f"""(
        (r.conditions <> '[]'::jsonb)::int * {DISTURBED} + m.noisy::int * {NOISY}
        + {_scatters("cpu_seconds_per_gb_spread")}::int * {NOISY_CPU_COST}
        + {_scatters("cpu_bound_throughput_spread")}::int * {NOISY_CPU_BOUND}
    )::smallint"""
"""SQL of the bits of a measurement (m) of a run (r)."""

_OF_FIGURE = {
    **dict.fromkeys(UNITS, NOISY),
    "cpu_seconds_per_gb": NOISY_CPU_COST,
    "cpu_bound_throughput": NOISY_CPU_BOUND,
    "cpu_bound_normalised": NOISY_CPU_BOUND,
}
"""Metric -> the bit of what it is made from."""


def is_doubtful(metric: str) -> str:
    """SQL: whether a vote's (v) figure of this metric is doubtful."""
    return f"(v.flags & {DISTURBED | _OF_FIGURE[metric]}) <> 0"
