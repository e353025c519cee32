"""What a transfer costs in CPU time, and what it could reach with a core for each end.

CPU cost is the figure that a busy machine disturbs least (docs/method.md, section 1).
"""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.summary import NOISY_MINIMUM_TRIES, median_of_sorted, relative_spread
from documents.types import Sample

BYTES_PER_GB = 1e9

MEASURABLE_SECONDS = 1e-6
"""CPU time below this is none that a system accounts for: dividing by it would claim anything."""


STREAM_START_SECONDS = 0.19
"""CPU time that sshd spends once a stream, while its buffer grows over the first MiB."""

START_SHARE = 0.05
"""What that may add to the CPU time of a transfer before the cost of a byte is unknown."""


class CpuCost(NamedTuple):
    """The median over a series' tries, and their spread as of throughputs (a fraction).

    `seconds_per_gb`: CPU seconds per 10^9 bytes, both ends added. Of fewer than three tries
    that measured the CPU time of both ends there is no spread.
    """

    seconds_per_gb: float
    seconds_per_gb_spread: float | None


def cpu_cost(samples: Sequence[Sample], *, with_start: bool = False) -> CpuCost | None:
    """The CPU cost of the tries that measured both ends; None when none did.

    `with_start`: the start of the stream is in their CPU seconds, which then tell what a byte
    costs only where a transfer is so long that it is within 5 %.
    """
    least = STREAM_START_SECONDS / START_SHARE if with_start else 0.0
    costs = []
    for sample in samples:
        size, client, server = sample.bytes, sample.client_cpu_seconds, sample.server_cpu_seconds
        if not size or client is None or server is None:
            continue
        if max(client, server) < MEASURABLE_SECONDS or client + server < least:
            continue
        costs.append((client + server) / size * BYTES_PER_GB)
    if not costs:
        return None
    return CpuCost(
        seconds_per_gb=median_of_sorted(sorted(costs)),
        seconds_per_gb_spread=relative_spread(costs) if len(costs) >= NOISY_MINIMUM_TRIES else None,
    )
