"""Which of a comparison's votes are doubtful: noisy, or of a run that was measured disturbed."""

from analysis.comparison import UNITS
from analysis.groups import FEW_VOTES
from analysis.summary import NOISY_MINIMUM_TRIES, NOISY_SPREAD


def _scatters(spread: str) -> str:
    return f"m.n >= {NOISY_MINIMUM_TRIES} AND m.{spread} > {NOISY_SPREAD}"


_NOISY = {
    **dict.fromkeys(UNITS, "m.noisy"),
    "cpu_seconds_per_gb": _scatters("cpu_seconds_per_gb_spread"),
    "cpu_bound_throughput": _scatters("cpu_bound_throughput_spread"),
    "cpu_bound_normalised": _scatters("cpu_bound_throughput_spread"),
}
"""Metric -> SQL: whether the tries behind a vote's figure scatter by more than they should."""


def doubtful_votes(metric: str) -> str:
    """SQL of how many of a figure's votes are doubtful, NULL where there are more than a few.

    It reads `n`, `runs` and `series` of a figure. The votes are looked up one by one by their
    keys: `runs_latest` does not say how a figure came about, and a join would read the table of
    all measurements, for groups whose median no single system moves.
    """
    return f"""CASE WHEN n <= {FEW_VOTES} THEN (
        SELECT count(*)::int
        FROM unnest(runs, series) AS vote (run_id, series_id)
        JOIN runs_measurement m ON (m.run_id, m.series_id) = (vote.run_id, vote.series_id)
        JOIN runs_run r ON r.id = vote.run_id
        WHERE {_NOISY[metric]} OR r.conditions <> '[]'::jsonb
    ) END"""  # noqa: S608 - constants
