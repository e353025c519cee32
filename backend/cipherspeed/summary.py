"""Compute the median and spread of a series (docs/method.md, section 1)."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from cipherspeed.types import Sample

MAD_TO_SIGMA = 1.4826
"""Standard deviation of a normal distribution divided by the median absolute deviation."""

MEDIAN_TO_MEAN = 1.2533
"""Standard error of the median / standard error of the mean, for normal values: sqrt(pi / 2)."""

NOISY_SPREAD = 0.05
NOISY_MINIMUM_TRIES = 3


class SeriesSummary(NamedTuple):
    """Summarise the throughputs of a series in bytes per second. `spread` is a fraction."""

    median: float
    minimum: float
    maximum: float
    n: int
    spread: float
    noisy: bool


def median_of_sorted(values: Sequence[float]) -> float:
    # Faster than statistics.median for the many short lists of a run.
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def _spread_about(middle: float, values: Iterable[float]) -> float:
    return MAD_TO_SIGMA * median_of_sorted(sorted([abs(x - middle) for x in values])) / middle


def relative_spread(values: Sequence[float]) -> float:
    """Return 1.4826 * median(|x - median|) / median. The median must be positive."""
    return _spread_about(median_of_sorted(sorted(values)), values)


def throughput(sample: Sample) -> float:
    """Return the throughput of one try in bytes per second."""
    if sample.bytes is not None and sample.seconds:
        return sample.bytes / sample.seconds
    if sample.bytes_per_second is None:
        raise ValueError("a sample needs bytes and seconds, or bytes_per_second")
    return sample.bytes_per_second


def summarise(throughputs: Sequence[float]) -> SeriesSummary:
    """Summarise the throughputs of a series, in bytes per second.

    Raise `ValueError` if `throughputs` is empty or contains a value that is not positive.
    """
    ordered = sorted(throughputs)
    if not ordered or ordered[0] <= 0:
        raise ValueError("a series needs one or more throughputs above zero")
    n, middle = len(ordered), median_of_sorted(ordered)
    spread = _spread_about(middle, ordered)
    noisy = spread > NOISY_SPREAD and n >= NOISY_MINIMUM_TRIES
    return SeriesSummary(middle, ordered[0], ordered[-1], n, spread, noisy)


BYTES_PER_GB = 1e9

MEASURABLE_SECONDS = 1e-6
"""Minimum CPU seconds of a try. Operating systems cannot measure shorter times."""


def cpu_seconds_per_gb(samples: Iterable[Sample]) -> tuple[float, float | None] | None:
    """Return the median and the spread of the CPU seconds for 10^9 bytes, client plus server.

    The spread is a fraction, or None for fewer than three tries. Return None if no try has the CPU
    time of both client and server.
    """
    costs = []
    for sample in samples:
        size, client, server = sample.bytes, sample.client_cpu_seconds, sample.server_cpu_seconds
        if not size or client is None or server is None:
            continue
        if max(client, server) >= MEASURABLE_SECONDS:
            costs.append((client + server) / size * BYTES_PER_GB)
    if not costs:
        return None
    spread = relative_spread(costs) if len(costs) >= NOISY_MINIMUM_TRIES else None
    return median_of_sorted(sorted(costs)), spread


BEYOND_MEMORY = 100e9
"""Highest plausible rate of a thread in bytes per second.

The rate exceeds the memory bandwidth of a core (20e9 in 2026).
"""

BEYOND_A_CHAIN = 10e9
"""Highest plausible rate of a thread for sequential or slow ciphers, in bytes per second.

Example: AES-128-CBC takes 10 rounds of 3 cycles for 16 bytes, or 3.2e9 bytes per second at 6 GHz.
"""

_CHAINED = re.compile(
    r"-(?:cbc|cfb\d*|ofb\d*)\b|^(?:rc4|arcfour|3des|des|bf|blowfish|cast|idea|rc2)"
)


@lru_cache(maxsize=4096)
def highest_plausible(threads: int = 1, *, cipher: str = "", decrypt: bool = False) -> float:
    """Return the highest plausible rate of a cipher in bytes per second."""
    # CBC encrypts in sequence, but decrypts in parallel.
    chained = not decrypt and _CHAINED.search(cipher) is not None
    return (BEYOND_A_CHAIN if chained else BEYOND_MEMORY) * threads
