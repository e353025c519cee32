"""Machine speed against a frozen reference profile (docs/method.md, section 2)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import stdev


@dataclass(frozen=True)
class SpeedIndex:
    """How fast a machine is without acceleration, relative to the reference machine.

    `index` S: a throughput divided by it is "what this cipher would do on the reference
    machine". `uncertainty` u, a factor of at least 1, says how far the families disagree;
    None when there is only one. `families` are those it was made from.
    """

    index: float
    uncertainty: float | None
    families: tuple[str, ...]


def speed_index(levels: Mapping[str, float], reference: Mapping[str, float]) -> SpeedIndex | None:
    """The speed index of a run from its baseline levels; both in bytes per second by family.

    S = geometric mean of b(f) / a(f) over the families that run and reference share,
    u = exp(stdev(ln(b/a)) / sqrt(number of families)). None when they share none: never a guess.
    """
    families = tuple(family for family in levels if family in reference)
    if not families:
        return None
    logs = [math.log(levels[family] / reference[family]) for family in families]
    uncertainty = math.exp(stdev(logs) / math.sqrt(len(logs))) if len(logs) > 1 else None
    return SpeedIndex(math.exp(math.fsum(logs) / len(logs)), uncertainty, families)


def normalised(throughput: float, speed: SpeedIndex) -> float:
    """The throughput, in bytes per second, that the reference machine would reach."""
    return throughput / speed.index
