"""Figures that cannot be true: kept, flagged, and left out of every statistic."""

import math

BEYOND_MEMORY = 100e9
"""Bytes per second and thread that no machine's memory moves (2026: one core reads 20e9)."""


def is_plausible(throughput: float, threads: int = 1) -> bool:
    """Whether a rate in bytes per second is above zero, finite and within what memory can move."""
    return math.isfinite(throughput) and 0 < throughput <= BEYOND_MEMORY * threads
