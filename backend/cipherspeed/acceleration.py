"""Is hardware AES used? A verdict with its evidence (docs/method.md, section 4)."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from natsort import natsort_key

from cipherspeed.baselines import (
    MeasuredSeries,
    SpeedIndex,
    baseline_levels,
    normalised,
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
"""A factor in speed that proves hardware AES: by turning it off, or above software's level."""

HYPERVISORS = frozenset(
    (
        *("kvm", "qemu", "amazon", "vmware", "microsoft", "oracle", "xen", "bochs", "uml"),
        *("parallels", "bhyve", "powervm", "zvm", "qnx", "acrn", "apple", "sre", "google"),
    )
)
"""What systemd-detect-virt and the agent call machines that are guests; containers are none."""

NO_EFFECT = 1.1
"""A mask that slows AES by less than this changed nothing."""

MASK_WITHOUT_EFFECT = "mask had no effect"
"""The agent's reason for leaving out masked series that were as fast as the plain ones."""

TELLING_CIPHERS = {
    "openssl": ("aes-128-cbc", "aes-128-gcm"),
    "ssh": ("aes128-cbc", "aes128-gcm@openssh.com"),
}


@dataclass(frozen=True)
class AccelerationVerdict:
    """The verdict; what it rests on and what to do about it, in words.

    `factor`: how many times faster AES runs than without its instructions, measured by turning
    them off or else against software AES on the reference; None where neither could be.
    """

    verdict: Verdict
    evidence: str
    advice: str | None = None
    factor: float | None = None


@dataclass(frozen=True)
class _Effect:
    """A cipher with and without AES instructions, bytes per second."""

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
            f"With the AES instructions turned off {self.cipher} runs at {_mb(self.masked)}"
            f" instead of {_mb(self.plain)} MB/s, a factor of {_times(self.factor)}."
        )


@dataclass(frozen=True)
class _Speed:
    """A machine's AES-128-CBC in bytes per second, beside what its speed index promises."""

    cipher: str
    measured: float
    speed: SpeedIndex
    reference: "SoftwareAes"

    @property
    def factor(self) -> float:
        """Normalised AES over what software AES reaches on the reference machine."""
        return normalised(self.measured, self.speed) / self.reference.software

    @property
    def words(self) -> str:
        expected = self.reference.software * self.speed.index
        return (
            f"{self.cipher} runs at {_mb(self.measured)} MB/s, {_times(self.factor)} times what"
            f" software AES reaches on a machine of this speed ({_mb(expected)} MB/s, judged by"
            f" {' and '.join(self.speed.families)})."
        )


@dataclass(frozen=True)
class SoftwareAes:
    """What AES-128-CBC in software reaches beside known baseline levels, bytes per second."""

    tool: str
    cipher: str
    software: float
    levels: Mapping[str, float]
    source: str


@cache
def software_aes() -> tuple[SoftwareAes, ...]:
    """Return the references of data/software_aes.json, openssl's first."""
    return tuple(SoftwareAes(**reference) for reference in _data("software_aes.json")["references"])


@cache
def first_openssl_with_aes() -> Mapping[str, str]:
    """Architecture -> the first OpenSSL release that uses its AES instructions."""
    releases: Mapping[str, str] = _data("aes_in_openssl.json")["first_releases"]
    return releases


def _data(name: str) -> Any:
    return json.loads(resources.files(__package__).joinpath(f"data/{name}").read_text("utf-8"))


def acceleration_verdict(
    measured: Iterable[MeasuredSeries],
    environment: Mapping[str, Any] | None = None,
    skipped: Iterable[Mapping[str, Any]] = (),
) -> AccelerationVerdict:
    """Return the verdict on one run, or on several of one environment taken together.

    `environment` and `skipped` as in the run document. Speed proves `hardware`, by masking or
    against software AES. Without that proof the flags decide: AES reported, but the mask
    changes nothing and AES runs at software speed, is `unused`; AES missing from the flags of
    a model that has it is `hidden`, else `software`. Whatever is left is `unknown`.
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
    idle = _mask_was_idle(series, skipped)
    if flags.reported and idle and speed:
        return _unused(flags, facts, speed)
    return AccelerationVerdict("unknown", _why_unknown(flags, effect, idle, speed))


def _times(factor: float) -> str:
    """Return a factor in words; near the limit with the decimals that show on which side it is."""
    return f"{factor:.3f}" if abs(factor - CLEAR_EFFECT) < 0.06 else f"{factor:.1f}"


def _mb(rate: float) -> str:
    return f"{rate / 1e6:,.0f}"


def _mask_effects(measured: Iterable[MeasuredSeries], tool: str) -> list[_Effect]:
    """Each telling cipher with and without the mask, encrypting, at the largest common block.

    At small blocks the cost of a call hides part of the cipher's.
    """
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
        if effect.block_size > known.block_size:
            effects[series.cipher] = effect
    return list(effects.values())


def _is_telling(series: Series) -> bool:
    return (
        series.acceleration == "masked"
        and series.operation == "encrypt"
        and series.cipher in TELLING_CIPHERS[series.tool]
    )


def _mask_was_idle(
    measured: Sequence[MeasuredSeries], skipped: Iterable[Mapping[str, Any]]
) -> bool:
    """Return whether masking was tried on a telling openssl cipher and changed nothing.

    ssh does not tell: its MAC and its copying hide the cipher. An agent's word for it counts where
    the plain series is there too: without that there was nothing to compare with.
    """
    effects = _mask_effects(measured, "openssl")
    if effects:
        return all(1 / NO_EFFECT < effect.factor < NO_EFFECT for effect in effects)
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
    """AES-128-CBC against software AES, where a baseline was measured beside it."""
    for reference in software_aes():
        rate = rate_beside_baselines(reference.tool, reference.cipher, measured)
        speed = speed_index(baseline_levels(reference.tool, measured), reference.levels)
        if rate is not None and speed is not None:
            return _Speed(reference.cipher, rate, speed, reference)
    return None


def _without_flags(facts: Mapping[str, Any], speed: _Speed | None) -> AccelerationVerdict:
    """`hidden` when this model of CPU is known to have AES instructions, else `software`."""
    cpu = facts["cpu"]
    measured = f" {speed.words}" if speed else ""
    factor = speed.factor if speed else None
    if model_has_aes(cpu):
        name = " ".join(filter(None, (cpu_name(cpu), f"({microarchitecture(cpu)})")))
        evidence = (
            f"The CPU, {name}, has AES instructions, but the flags that this system reports"
            f" lack them.{measured}"
        )
        return AccelerationVerdict("hidden", evidence, _how_to_unhide(facts), factor)
    evidence = f"The CPU's flags list no AES instructions.{measured}"
    advice = None
    if is_virtual_model(cpu.get("model")):
        advice = (
            f"The hypervisor presents a CPU of its own ({cpu['model']}); the real one may have"
            f" AES instructions. {_GIVE_THE_HOSTS_CPU}"
        )
    return AccelerationVerdict("software", evidence, advice, factor)


_GIVE_THE_HOSTS_CPU = (
    "Give the guest the host's CPU type (Proxmox: CPU type host; libvirt: cpu mode"
    " host-passthrough; QEMU: -cpu host), then power it off and start it again."
)


def _how_to_unhide(facts: Mapping[str, Any]) -> str:
    if facts.get("virtualization") == "none":
        return (
            "No hypervisor was found: the firmware may switch AES off. Look for AES or AES-NI in"
            " the BIOS or UEFI set-up, or update it."
        )
    guest = facts.get("virtualization") in HYPERVISORS
    return (
        f"{'A hypervisor hides' if guest else 'A hypervisor, or the firmware, hides'} them."
        f" {_GIVE_THE_HOSTS_CPU}"
    )


def _unused(flags: AesFlags, facts: Mapping[str, Any], speed: _Speed) -> AccelerationVerdict:
    """AES instructions that are there, and that this OpenSSL does not use."""
    evidence = (
        f"The CPU reports {', '.join(flags.seen)}, yet turning the AES instructions off changes"
        f" nothing. {speed.words}"
    )
    return AccelerationVerdict("unused", evidence, _how_to_use(facts), speed.factor)


def _how_to_use(facts: Mapping[str, Any]) -> str:
    """Return how to use them: this OpenSSL is too old for the architecture, or built without."""
    text = (facts.get("openssl") or {}).get("version_text")
    release = openssl_release(text)
    if release is None:
        return "The OpenSSL in use does not use them: install one of the distribution's own."
    architecture = ((facts.get("cpu") or {}).get("architecture") or "").lower()
    first = first_openssl_with_aes().get(architecture)
    version = re.match(r"OpenSSL (\S+)", release)
    if first and version and natsort_key(version[1]) < natsort_key(first):
        return f"{release} is too old: OpenSSL uses these instructions from {first} on. Update it."
    return (
        f"{release} could use them and does not: it may have been built without (no-asm, or for"
        " another CPU). Install the distribution's package, or build it again without no-asm."
    )


def _why_unknown(flags: AesFlags, effect: _Effect | None, idle: bool, speed: _Speed | None) -> str:
    """Return what was seen, and what is missing for a verdict."""
    seen = [f"The CPU reports {', '.join(flags.seen)}." if flags.reported else ""]
    if effect:
        seen.append(f"{effect.words} That is less than the {CLEAR_EFFECT} required.")
    elif idle:
        seen.append("Turning the AES instructions off changed nothing.")
    else:
        seen.append(
            "The run it is judged by has no AES-128 series both with the AES instructions and"
            " with them turned off."
        )
    seen.append(speed.words if speed else "No AES-128-CBC beside a baseline to judge its speed.")
    if flags.reported is None:
        seen.append("The CPU's flags are not known.")
    return " ".join(filter(None, seen))
