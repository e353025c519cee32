"""Machine speed against a frozen reference profile (docs/method.md, section 2)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import stdev


@dataclass(frozen=True)
class SpeedIndex:
    """How fast a machine is without acceleration, relative to the reference machine.

    `index` S: a throughput divided by it is "what this cipher would do on the reference
    machine". `families` are those it was made from, `logs` what each of them says.
    """

    index: float
    families: tuple[str, ...]
    logs: tuple[float, ...]

    @property
    def uncertainty(self) -> float | None:
        """u, a factor of at least 1: how far the families disagree; None when there is only one.

        Computed when it is wanted, because that takes several times as long as the index.
        """
        if len(self.logs) < 2:
            return None
        return math.exp(stdev(self.logs) / math.sqrt(len(self.logs)))


def speed_index(levels: Mapping[str, float], reference: Mapping[str, float]) -> SpeedIndex | None:
    """The speed index of a run from its baseline levels; both in bytes per second by family.

    S = geometric mean of b(f) / a(f) over the families that run and reference share,
    u = exp(stdev(ln(b/a)) / sqrt(number of families)). None when they share none: never a guess.
    """
    families = tuple(family for family in levels if family in reference)
    if not families:
        return None
    logs = tuple(math.log(levels[family] / reference[family]) for family in families)
    return SpeedIndex(math.exp(math.fsum(logs) / len(logs)), families, logs)


def normalised(throughput: float, speed: SpeedIndex) -> float:
    """The throughput, in bytes per second, that the reference machine would reach."""
    return throughput / speed.index
