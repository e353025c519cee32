"""Compute the speed of a run from baseline ciphers, which no common CPU accelerates."""

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
"""Display names by baseline family."""


def only(families: Iterable[str]) -> str:
    """Return "3DES only" or "3DES or arcfour only", or an empty string for no family."""
    names = " or ".join(NAMES[family] for family in families)
    return f"{names} only" if names else ""


SMALLEST_BLOCK = 8192
"""Smallest openssl block of the profile's levels, in bytes."""

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
"""Family by tool and cipher (docs/method.md, section 2)."""


class MeasuredSeries(NamedTuple):
    series: Series
    median: float


def is_plain(series: Series) -> bool:
    """Return whether a series is unmasked and local, and for openssl encrypts with one thread."""
    if series.acceleration != "default":
        return False
    if series.tool == "ssh":
        return series.target_kind == "loopback" and not series.compression and series.mac is None
    return series.operation == "encrypt" and series.threads == 1


def _comparable(candidates: list[MeasuredSeries]) -> list[MeasuredSeries]:
    """Select a tool's candidates that can be combined into a level.

    ssh: the pipeline method if it was measured, because published results use it and the
    methods' rates differ; unpinned series if possible. openssl: the largest block size.
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
    """Return the series of a run that determine a tool's levels."""
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
    """Return a cipher's median, measured like the run's baselines, in bytes per second.

    ssh: with the same method. openssl: at the largest block size. Return None if not measured.
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
    """Return the level b(f) of each baseline family in a run, in bytes per second.

    The level is the geometric mean of the medians of the family's members. Families without
    results are absent.
    """
    medians: defaultdict[str, list[float]] = defaultdict(list)
    for yardstick in _yardsticks(tool, measured):
        medians[MEMBERS[tool][yardstick.series.cipher]].append(yardstick.median)
    return {family: geometric_mean(medians[family]) for family in FAMILIES if family in medians}


@dataclass(frozen=True)
class SpeedIndex:
    """Compare the speed of a host without acceleration with the reference host.

    A throughput divided by `index` (S) is the throughput on the reference host. `families` are the
    measured baseline families; `logs` are their logarithmic ratios.
    """

    index: float
    families: tuple[str, ...]
    logs: tuple[float, ...]

    @property
    def uncertainty(self) -> float | None:
        """Return the uncertainty u, a factor of at least 1, or None for one family.

        It is computed on demand, because that takes several times as long as the index.
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
    """Return the speed index of a run from levels and reference levels, in bytes per second.

    S = geometric mean of b(f) / a(f) over the families that run and reference share, u =
    exp(stdev(ln(b/a)) / sqrt(number of families)). Return None if they share no family.
    """
    families = tuple(family for family in levels if family in reference)
    if not families:
        return None
    logs = tuple(math.log(levels[family] / reference[family]) for family in families)
    return SpeedIndex(math.exp(math.fsum(logs) / len(logs)), families, logs)
