"""What a transfer costs in CPU time, and what it could reach with a core for each end.

CPU cost is the figure that a busy machine disturbs least (docs/method.md, section 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from documents.types import Sample

BYTES_PER_GB = 1e9

MEASURABLE_SECONDS = 1e-6
"""CPU time below this is none that a system accounts for: dividing by it would claim anything."""


@dataclass(frozen=True)
class CpuCost:
    """Medians over a series' tries.

    `seconds_per_gb`: CPU seconds per 10^9 bytes, both ends added. `bound_throughput`: bytes
    per second when each end has a core to itself: bytes / the larger end's CPU seconds.
    """

    seconds_per_gb: float
    bound_throughput: float


def cpu_cost(samples: Sequence[Sample]) -> CpuCost | None:
    """The CPU cost of the tries that measured both ends; None when none did."""
    costs, bounds = [], []
    for sample in samples:
        client, server = sample.client_cpu_seconds, sample.server_cpu_seconds
        if not sample.bytes or client is None or server is None:
            continue
        if max(client, server) < MEASURABLE_SECONDS:
            continue
        costs.append((client + server) / sample.bytes * BYTES_PER_GB)
        bounds.append(sample.bytes / max(client, server))
    if not costs:
        return None
    return CpuCost(seconds_per_gb=median(costs), bound_throughput=median(bounds))
