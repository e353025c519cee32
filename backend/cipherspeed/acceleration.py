"""Determine whether a run used AES hardware (docs/method.md, section 4)."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from natsort import natsort_key

from cipherspeed.baselines import (
    NAMES,
    MeasuredSeries,
    SpeedIndex,
    baseline_levels,
    rate_beside_baselines,
    speed_index,
)
from cipherspeed.cpu import (
    AesFlags,
    aes_flags,
    cpu_name,
    is_virtual_model,
    microarchitecture,
    model_has_aes,
)
from cipherspeed.environment import openssl_release
from cipherspeed.types import Series

Verdict = Literal["hardware", "software", "hidden", "unused", "unknown"]

CLEAR_EFFECT = 1.5
"""Minimum ratio that proves the use of AES hardware: AES rate / AES rate without AES hardware."""

HYPERVISORS = frozenset(
    (
        *("kvm", "qemu", "amazon", "vmware", "microsoft", "oracle", "xen", "bochs", "uml"),
        *("parallels", "bhyve", "powervm", "zvm", "qnx", "acrn", "apple", "sre", "google"),
    )
)
"""Names that systemd-detect-virt or the agent reports for hypervisors, but not for containers."""

NO_EFFECT = 1.1
"""Disabling AES hardware counts as ineffective if AES becomes slower by less than this factor."""

MASK_WITHOUT_EFFECT = "mask had no effect"
"""Text in the reason for a skipped series if disabling AES hardware had no effect."""

TELLING_CIPHERS = {
    "openssl": ("aes-128-cbc", "aes-128-gcm"),
    "ssh": ("aes128-cbc", "aes128-gcm@openssh.com"),
}


@dataclass(frozen=True)
class AccelerationVerdict:
    """State whether a run used AES hardware.

    `factor`: AES throughput divided by AES throughput without AES hardware, or None if unknown. The
    divisor is measured with AES hardware disabled, or is an estimate for software AES.
    """

    verdict: Verdict
    evidence: str
    advice: str | None = None
    factor: float | None = None


@dataclass(frozen=True)
class _Effect:
    """Compare the rates of a cipher with AES hardware (`plain`) and without (`masked`).

    Rates are in bytes per second.
    """

    cipher: str
    block_size: int
    plain: float
    masked: float

    @property
    def factor(self) -> float:
        return self.plain / self.masked

    @property
    def words(self) -> str:
        return (
            f"Disabling AES hardware slows {self.cipher} from {_mb(self.plain)}"
            f" to {_mb(self.masked)} MB/s (a factor of {_times(self.factor)})."
        )


@dataclass(frozen=True)
class _Speed:
    """Compare the rate of AES-128-CBC with an estimate of the rate of software AES.

    `measured`: bytes per second. The estimate is the rate of software AES on a reference host,
    multiplied by the speed index of the measured host.
    """

    cipher: str
    measured: float
    speed: SpeedIndex
    reference: "SoftwareAes"

    @property
    def factor(self) -> float:
        return self.measured / self.speed.index / self.reference.software

    @property
    def words(self) -> str:
        expected = self.reference.software * self.speed.index
        names = ", ".join(NAMES[family] for family in self.speed.families)
        families = " and ".join(names.rsplit(", ", 1))
        less = self.factor < 1
        share = f"{self.factor * 100:.0f} % of" if less else f"{_times(self.factor)} times"
        return (
            f"{self.cipher} reaches {_mb(self.measured)} MB/s, {share} the {_mb(expected)} MB/s"
            f" estimated for AES without hardware from the host's {families} speed."
        )


@dataclass(frozen=True)
class SoftwareAes:
    """Store the throughput of software AES on a reference host, in bytes per second.

    `levels`: throughput of the baseline ciphers on the reference host, by baseline family.
    """

    tool: str
    cipher: str
    software: float
    levels: Mapping[str, float]
    source: str


@cache
def software_aes() -> tuple[SoftwareAes, ...]:
    return tuple(SoftwareAes(**reference) for reference in _data("software_aes.json")["references"])


@cache
def first_openssl_with_aes() -> Mapping[str, str]:
    """Return the first OpenSSL release that uses AES hardware, by architecture (`uname -m`)."""
    releases: Mapping[str, str] = _data("aes_in_openssl.json")["first_releases"]
    return releases


def _data(name: str) -> Any:
    return json.loads(resources.files(__package__).joinpath(f"data/{name}").read_text("utf-8"))


def acceleration_verdict(
    measured: Iterable[MeasuredSeries],
    environment: Mapping[str, Any] | None = None,
    skipped: Iterable[Mapping[str, Any]] = (),
) -> AccelerationVerdict:
    """Return whether a run, or several runs in one environment, used AES hardware.

    `environment`, `skipped`: members of the run document.
    """
    series, facts = list(measured), environment or {}
    effects = _mask_effects(series, "openssl") or _mask_effects(series, "ssh")
    effect = max(effects, key=lambda effect: effect.factor, default=None)
    speed = _speed(series)
    for proof in (effect, speed):
        if proof and proof.factor >= CLEAR_EFFECT:
            return AccelerationVerdict("hardware", proof.words, factor=proof.factor)
    flags = aes_flags(facts.get("cpu") or {})
    if flags.reported is False:
        return _without_flags(facts, speed)
    idle = _openssl_mask_had_no_effect(series, skipped)
    if flags.reported and idle and speed:
        return _unused(flags, facts, speed)
    return AccelerationVerdict("unknown", _why_unknown(flags, effect, idle, speed))


def _times(factor: float) -> str:
    # Near the limit, one decimal would hide whether the factor reaches the limit.
    return f"{factor:.3f}" if abs(factor - CLEAR_EFFECT) < 0.06 else f"{factor:.1f}"


def _mb(rate: float) -> str:
    return f"{rate / 1e6:,.0f}"


def _mask_effects(measured: Iterable[MeasuredSeries], tool: str) -> list[_Effect]:
    medians = {result.series: result.median for result in measured if result.series.tool == tool}
    effects: dict[str, _Effect] = {}
    for series, masked in medians.items():
        if not _is_telling(series):
            continue
        plain = medians.get(series._replace(acceleration="default"))
        if not plain:
            continue
        effect = _Effect(series.cipher, series.block_size or 0, plain, masked)
        known = effects.setdefault(series.cipher, effect)
        # At small block sizes, the cost of a call hides the cost of the cipher.
        if effect.block_size > known.block_size:
            effects[series.cipher] = effect
    return list(effects.values())


def _is_telling(series: Series) -> bool:
    return (
        series.acceleration == "masked"
        and series.operation == "encrypt"
        and series.cipher in TELLING_CIPHERS[series.tool]
    )


def _openssl_mask_had_no_effect(
    measured: Sequence[MeasuredSeries], skipped: Iterable[Mapping[str, Any]]
) -> bool:
    # ssh is ignored, because the MAC and copying hide the cost of the cipher.
    effects = _mask_effects(measured, "openssl")
    if effects:
        return all(1 / NO_EFFECT < effect.factor < NO_EFFECT for effect in effects)
    # The agent skips a masked series if the mask has no effect.
    plain = {result.series.cipher for result in measured if _is_plain_openssl(result.series)}
    return any(
        entry.get("tool") == "openssl"
        and entry.get("cipher") in plain.intersection(TELLING_CIPHERS["openssl"])
        and MASK_WITHOUT_EFFECT in str(entry.get("reason"))
        for entry in skipped
    )


def _is_plain_openssl(series: Series) -> bool:
    return series.tool == "openssl" and (series.acceleration, series.operation) == (
        "default",
        "encrypt",
    )


def _speed(measured: Sequence[MeasuredSeries]) -> _Speed | None:
    for reference in software_aes():
        rate = rate_beside_baselines(reference.tool, reference.cipher, measured)
        speed = speed_index(baseline_levels(reference.tool, measured), reference.levels)
        if rate is not None and speed is not None:
            return _Speed(reference.cipher, rate, speed, reference)
    return None


def _without_flags(facts: Mapping[str, Any], speed: _Speed | None) -> AccelerationVerdict:
    cpu = facts["cpu"]
    measured = f" {speed.words}" if speed else ""
    factor = speed.factor if speed else None
    if model_has_aes(cpu):
        name = " ".join(filter(None, (cpu_name(cpu), f"({microarchitecture(cpu)})")))
        evidence = f"The {name} has AES hardware, but the system does not report it.{measured}"
        return AccelerationVerdict("hidden", evidence, _how_to_unhide(facts), factor)
    evidence = f"The CPU flags do not include AES.{measured}"
    advice = None
    if is_virtual_model(cpu.get("model")):
        advice = (
            f"The hypervisor emulates a CPU ({cpu['model']}), but the physical CPU may have AES"
            f" hardware. {_GIVE_THE_HOSTS_CPU}"
        )
    return AccelerationVerdict("software", evidence, advice, factor)


_GIVE_THE_HOSTS_CPU = (
    "Give the guest the host's CPU type (Proxmox: CPU type host; libvirt: cpu mode"
    " host-passthrough; QEMU: -cpu host), then power it off and start it again."
)


def _how_to_unhide(facts: Mapping[str, Any]) -> str:
    if facts.get("virtualization") == "none":
        return (
            "No hypervisor was detected, so the firmware may have disabled AES. Enable AES or"
            " AES-NI in the BIOS or UEFI setup, or update the firmware."
        )
    guest = facts.get("virtualization") in HYPERVISORS
    return (
        f"{'A hypervisor' if guest else 'A hypervisor or the firmware'} hides the AES hardware."
        f" {_GIVE_THE_HOSTS_CPU}"
    )


def _unused(flags: AesFlags, facts: Mapping[str, Any], speed: _Speed) -> AccelerationVerdict:
    evidence = (
        f"The CPU reports {', '.join(flags.seen)}, but disabling AES hardware has no effect."
        f" {speed.words}"
    )
    return AccelerationVerdict("unused", evidence, _how_to_use_aes(facts), speed.factor)


def _how_to_use_aes(facts: Mapping[str, Any]) -> str:
    text = (facts.get("openssl") or {}).get("version_text")
    release = openssl_release(text)
    if release is None:
        return "OpenSSL does not use AES hardware. Install the distribution's OpenSSL package."
    architecture = ((facts.get("cpu") or {}).get("architecture") or "").lower()
    first = first_openssl_with_aes().get(architecture)
    version = re.match(r"OpenSSL (\S+)", release)
    if first and version and natsort_key(version[1]) < natsort_key(first):
        return f"{release} is too old to use AES hardware. Update to OpenSSL {first} or newer."
    return (
        f"{release} supports AES hardware but does not use it. It may have been built with no-asm"
        " or for another CPU. Install the distribution's package, or rebuild it without no-asm."
    )


def _why_unknown(flags: AesFlags, effect: _Effect | None, idle: bool, speed: _Speed | None) -> str:
    seen = [f"CPU flags reported: {', '.join(flags.seen)}." if flags.reported else ""]
    if effect:
        seen.append(
            f"{effect.words} The verdict “hardware” requires a factor of at least {CLEAR_EFFECT}."
        )
    elif idle:
        seen.append("Disabling AES hardware has no effect.")
    else:
        seen.append("AES-128 was not measured both with and without AES hardware.")
    seen.append(speed.words if speed else "AES-128-CBC or a baseline cipher is missing.")
    if flags.reported is None:
        seen.append("The CPU flags are unknown.")
    return " ".join(filter(None, seen))
