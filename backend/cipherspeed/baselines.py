"""The yardstick: arcfour, blowfish and 3des, which common CPUs do not accelerate.

And the speed of a run by it.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import geometric_mean, stdev
from typing import NamedTuple

from cipherspeed.reference_profile import PROFILE
from cipherspeed.types import Series

FAMILIES = ("arcfour", "blowfish", "3des")

NAMES: Mapping[str, str] = {"arcfour": "arcfour", "blowfish": "Blowfish", "3des": "3DES"}
"""Family -> display name."""


def only(families: Iterable[str]) -> str:
    """Return "3DES only", or "3DES or arcfour only"; empty for none."""
    names = " or ".join(NAMES[family] for family in families)
    return f"{names} only" if names else ""


SMALLEST_BLOCK = 8192
"""Bytes; the profile's levels of openssl are of blocks of this size and more."""

MEMBERS: Mapping[str, Mapping[str, str]] = {
    "ssh": {
        "arcfour": "arcfour",
        "arcfour128": "arcfour",
        "arcfour256": "arcfour",
        "blowfish-cbc": "blowfish",
        "3des-cbc": "3des",
    },
    "openssl": {
        "rc4": "arcfour",
        "bf-cbc": "blowfish",
        "des-ede3-cbc": "3des",
        "des-ede3": "3des",
    },
}
"""Tool -> cipher -> family (docs/method.md, section 2)."""


class MeasuredSeries(NamedTuple):
    """A series with its median throughput in bytes per second."""

    series: Series
    median: float


def is_plain(series: Series) -> bool:
    """Default acceleration, and loopback without compression, or one encrypting thread."""
    if series.acceleration != "default":
        return False
    if series.tool == "ssh":
        return series.target_kind == "loopback" and not series.compression and series.mac is None
    return series.operation == "encrypt" and series.threads == 1


def _comparable(candidates: list[MeasuredSeries]) -> list[MeasuredSeries]:
    """Of one tool's candidates those that one level may be made of.

    ssh: one method, `pipeline` where it was measured, because the two methods' rates differ
    and published figures are of that kind; of a cipher's pinned and unpinned series the latter.
    openssl: the run's largest block size.
    """
    if not candidates:
        return []
    if candidates[0].series.tool == "ssh":
        methods = {candidate.series.method for candidate in candidates}
        method = "pipeline" if "pipeline" in methods else "steady"
        of_method = [result for result in candidates if result.series.method == method]
        unpinned = {result.series.cipher for result in of_method if not result.series.pinned}
        return [
            result
            for result in of_method
            if not (result.series.pinned and result.series.cipher in unpinned)
        ]
    largest = max(candidate.series.block_size or 0 for candidate in candidates)
    return [candidate for candidate in candidates if candidate.series.block_size == largest]


def _yardsticks(tool: str, measured: Iterable[MeasuredSeries]) -> list[MeasuredSeries]:
    """Return the series of one run that the tool's levels are made of."""
    return _comparable(
        [
            result
            for result in measured
            if result.series.tool == tool
            and result.series.cipher in MEMBERS[tool]
            and is_plain(result.series)
        ]
    )


def rate_beside_baselines(
    tool: str, cipher: str, measured: Iterable[MeasuredSeries]
) -> float | None:
    """Return a cipher's median, bytes per second, measured as the run's baselines were; else None.

    ssh: by the same method. openssl: at the largest block.
    """
    series = list(measured)
    methods = {yardstick.series.method for yardstick in _yardsticks(tool, series)}
    candidates = [
        candidate
        for candidate in series
        if candidate.series.tool == tool
        and candidate.series.cipher == cipher
        and is_plain(candidate.series)
        and candidate.series.method in methods
    ]
    largest = max(candidates, key=lambda candidate: candidate.series.block_size or 0, default=None)
    return largest.median if largest else None


def baseline_levels(tool: str, measured: Iterable[MeasuredSeries]) -> dict[str, float]:
    """Return the level b(f) of each baseline family in one run, bytes per second.

    The level is the geometric mean of the medians of the family's members. Families that the run
    did not measure are absent.
    """
    medians: defaultdict[str, list[float]] = defaultdict(list)
    for yardstick in _yardsticks(tool, measured):
        medians[MEMBERS[tool][yardstick.series.cipher]].append(yardstick.median)
    return {family: geometric_mean(medians[family]) for family in FAMILIES if family in medians}


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
        """Return u, a factor of at least 1: how far the families disagree; None for one family.

        Computed when it is wanted, because that takes several times as long as the index.
        """
        if len(self.logs) < 2:
            return None
        return math.exp(stdev(self.logs) / math.sqrt(len(self.logs)))


def speed_of_run(tool: str, measured: Iterable[MeasuredSeries]) -> SpeedIndex | None:
    series = list(measured)
    if any(
        (yardstick.series.block_size or SMALLEST_BLOCK) < SMALLEST_BLOCK
        for yardstick in _yardsticks(tool, series)
    ):
        return None
    return speed_index(baseline_levels(tool, series), PROFILE.levels[tool])


def speed_index(levels: Mapping[str, float], reference: Mapping[str, float]) -> SpeedIndex | None:
    """Return the speed index of a run from its baseline levels; both in bytes per second by family.

    S = geometric mean of b(f) / a(f) over the families that run and reference share,
    u = exp(stdev(ln(b/a)) / sqrt(number of families)). None when they share none: never a guess.
    """
    families = tuple(family for family in levels if family in reference)
    if not families:
        return None
    logs = tuple(math.log(levels[family] / reference[family]) for family in families)
    return SpeedIndex(math.exp(math.fsum(logs) / len(logs)), families, logs)


def normalised(throughput: float, speed: SpeedIndex) -> float:
    """Return the throughput, in bytes per second, that the reference machine would reach."""
    return throughput / speed.index
