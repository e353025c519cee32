"""Is hardware AES used? A verdict with its evidence (docs/method.md, section 4)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from analysis.baselines import MeasuredSeries

Verdict = Literal["hardware", "unknown"]

CLEAR_EFFECT = 1.5
"""Turning the AES instructions off must slow a cipher by this factor to prove their use."""

TELLING_CIPHERS = ("aes-128-cbc", "aes-128-gcm")


@dataclass(frozen=True)
class AccelerationVerdict:
    """The verdict and, in words, what it rests on."""

    verdict: Verdict
    evidence: str


def _mask_effects(measured: Iterable[MeasuredSeries]) -> dict[str, float]:
    """Cipher -> how many times faster it is with the AES instructions than with them masked."""
    medians = {one.series: one.median for one in measured if one.series.tool == "openssl"}
    effects: dict[str, float] = {}
    for series, masked in medians.items():
        unmasked = medians.get(replace(series, acceleration="default"))
        if series.acceleration == "masked" and series.cipher in TELLING_CIPHERS and unmasked:
            effects[series.cipher] = max(effects.get(series.cipher, 0), unmasked / masked)
    return effects


def acceleration_verdict(measured: Iterable[MeasuredSeries]) -> AccelerationVerdict:
    """`hardware` when masking the AES instructions slows AES clearly, else `unknown`.

    A run without masked series proves nothing either way.
    """
    effects = _mask_effects(measured)
    if not effects:
        return AccelerationVerdict("unknown", "No series with the AES instructions turned off.")
    cipher, effect = max(effects.items(), key=lambda item: item[1])
    words = f"With the AES instructions turned off {cipher} runs at 1/{effect:.1f} of its speed"
    if effect >= CLEAR_EFFECT:
        return AccelerationVerdict("hardware", words + ".")
    return AccelerationVerdict("unknown", words + f", less than the factor {CLEAR_EFFECT} asked.")
