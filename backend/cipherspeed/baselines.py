"""Compare hosts by ciphers that no common CPU accelerates (docs/method.md, section 2)."""

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


def only(families: Iterable[str]) -> str:
    """Return text such as "3DES or arcfour only", or an empty string if `families` is empty."""
    names = " or ".join(NAMES[family] for family in families)
    return f"{names} only" if names else ""


SMALLEST_BLOCK = 8192
"""Minimum block size of openssl, in bytes, for comparisons with the reference profile."""

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


class MeasuredSeries(NamedTuple):
    series: Series
    median: float


def is_plain(series: Series) -> bool:
    if series.acceleration != "default":
        return False
    if series.tool == "ssh":
        return series.target_kind == "loopback" and not series.compression and series.mac is None
    return series.operation == "encrypt" and series.threads == 1


def _comparable(candidates: list[MeasuredSeries]) -> list[MeasuredSeries]:
    if not candidates:
        return []
    if candidates[0].series.tool == "ssh":
        # Rates of the two methods are not comparable. Published results use the pipeline method.
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


def _baseline_series(tool: str, measured: Iterable[MeasuredSeries]) -> list[MeasuredSeries]:
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
    """Return the median rate of a cipher in bytes per second, or None if unknown.

    Use only series that were measured with the same method as the baseline ciphers.
    """
    series = list(measured)
    methods = {baseline.series.method for baseline in _baseline_series(tool, series)}
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
    """Return the level b(f) of each baseline family f that a run measured, in bytes per second.

    The level is the throughput of the family: the geometric mean of the medians of its ciphers.
    """
    medians: defaultdict[str, list[float]] = defaultdict(list)
    for baseline in _baseline_series(tool, measured):
        medians[MEMBERS[tool][baseline.series.cipher]].append(baseline.median)
    return {family: geometric_mean(medians[family]) for family in FAMILIES if family in medians}


@dataclass(frozen=True)
class SpeedIndex:
    """Compare the speed of a host with the speed of the reference host.

    `index`: speed index S. Throughput divided by S estimates the throughput on the reference host.
    `logs`: ln(b(f) / a(f)) for each baseline family f (see `speed_index`).
    """

    index: float
    families: tuple[str, ...]
    logs: tuple[float, ...]

    @property
    def uncertainty(self) -> float | None:
        """Return the uncertainty u of the index, a factor of at least 1, or None for one family."""
        if len(self.logs) < 2:
            return None
        return math.exp(stdev(self.logs) / math.sqrt(len(self.logs)))


def speed_of_run(tool: str, measured: Iterable[MeasuredSeries]) -> SpeedIndex | None:
    series = list(measured)
    if any(
        (baseline.series.block_size or SMALLEST_BLOCK) < SMALLEST_BLOCK
        for baseline in _baseline_series(tool, series)
    ):
        return None
    return speed_index(baseline_levels(tool, series), PROFILE.levels[tool])


def speed_index(levels: Mapping[str, float], reference: Mapping[str, float]) -> SpeedIndex | None:
    """Return the speed index, or None if `levels` and `reference` share no family.

    For each shared baseline family f, b(f) is the value in `levels`, and a(f) is the value in
    `reference`, both in bytes per second. Speed index S = geometric mean of b(f) / a(f).
    Uncertainty factor u = exp(stdev(ln(b(f) / a(f))) / sqrt(number of shared families)).
    """
    families = tuple(family for family in levels if family in reference)
    if not families:
        return None
    logs = tuple(math.log(levels[family] / reference[family]) for family in families)
    return SpeedIndex(math.exp(math.fsum(logs) / len(logs)), families, logs)
