import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from archspec.cpu import TARGETS, Microarchitecture

from cipherspeed.cpu_models import (
    arm_core,
    cpu_tables,
    microarchitecture_of_name,
    x86_entry,
    x86_entry_of,
)

_CORES = r"(?:\d+|Dual|Triple|Quad|Six|Eight|Twelve|Sixteen)[- ]Core"

_NOISE = (
    (r"\s*(?:\((?:R|TM|C)\)|®|™)(?=[-\d]*-\d)", ""),  # "FX(tm)-8350"
    (r"\((?:R|TM|C)\)|®|™", " "),
    (r"\s*@.*$", ""),  # "@ 3.40GHz": a nominal clock, not part of the name
    (r"^\d+th Gen\s+", ""),
    (r"^Genuine Intel\b", "Intel"),
    (r",?\s+(?:APU )?(?:with |w/ )?(?:AMD )?Radeon\b.*$", ""),
    (rf"^{_CORES}\s+", ""),  # "Quad-Core AMD Opteron 2376"
    (rf"\s{_CORES}(?:\s+Processor)?(?=\s+\S)", ""),  # "Athlon 64 X2 Dual Core Processor 4400+"
    (rf"\s{_CORES}\b.*$", ""),  # "EPYC 7763 64-Core Processor"
    (r",?\s+altivec supported$", ""),
    (r"^(POWER\w+)\s+\((?:architected|raw)\)", r"\1"),
    (r"^(?=POWER\d)", "IBM "),
    (r"^(?=(?:Cortex|Neoverse)-)", "ARM "),
    (r"^Spacemit\b", "SpacemiT"),
    (r"^Geode.*\bAMD\b.*$", "AMD Geode"),
    (r"^Geode.*National Semi.*$", "National Semiconductor Geode"),
    (r"\b(?:CPU|Processor|SOC|APU)\b", " "),
    (r"^(VIA .*\S)\s+\d+MHz$", r"\1"),
    (r"\s+", " "),
    (r"\b(Core i[3579]) (\d{3,}\w*)$", r"\1-\2"),  # Intel used both spellings
    (r"(?<= )V(\d)$", r"v\1"),  # "E3-1230 V2"
    (r"^(Intel Xeon E\d-\d{4}\w?) 0$", r"\1"),
)

_PLACEHOLDERS = r"ARMv\d+(?:-compatible)?\s+Processor|AArch64\s+Processor|unknown|-"
"""Pattern for text that kernels report if the CPU model is unknown: "ARMv7 Processor rev 4"."""

_VIRTUAL = r"\bQEMU\b|\bKVM\b|\bVirtualApple\b|\bClass (?:Core|Opteron)\b"
"""Pattern for models that hypervisors report for any CPU, such as "Common KVM processor"."""

_VENDORS = {
    "genuineintel": "Intel",
    "authenticamd": "AMD",
    "hygongenuine": "Hygon",
    "centaurhauls": "VIA",
    "shanghai": "Zhaoxin",
    "arm": "ARM",
    "apple": "Apple",
    "ibm": "IBM",
    "power": "IBM",
    "ibm/s390": "IBM",
    "geodebynsc": "National Semiconductor",
    "0x710": "SpacemiT",
}

_MAKERS = {
    name.lower(): name
    for name in (
        *("Intel", "AMD", "Apple", "ARM", "IBM", "VIA", "Hygon", "Ampere", "HiSilicon"),
        *("Cavium", "Qualcomm", "Broadcom", "Fujitsu", "Phytium", "APM", "Nvidia", "Marvell"),
        *("SpacemiT", "SiFive"),
    )
}

_ARCHSPEC_FAMILIES = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "aarch64": "aarch64",
    "arm64": "aarch64",
}

_POWER_WITH_AES = 8
"""First POWER generation with AES instructions (`vcipher`, Power ISA 2.07)."""


def clean_cpu_model(model: str | None) -> str | None:
    """Shorten "Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz" to "Intel Core i7-3770".

    Return None for placeholder text, which some kernels report instead of an unknown model.
    """
    if not model or re.match(rf"(?:{_PLACEHOLDERS})(?:\s|$)", model.strip(), re.IGNORECASE):
        return None
    if is_virtual_model(model):
        return " ".join(model.split())
    for pattern, replacement in _NOISE:
        model = re.sub(pattern, replacement, model.strip(), flags=re.IGNORECASE)
    return model.strip() or None


def cpu_name(cpu: Mapping[str, Any]) -> str | None:
    """Return the name of a CPU, or None if unknown. `cpu`: `environment.cpu` of a run document."""
    name = clean_cpu_model(cpu.get("model"))
    if name is None:  # ARM CPUs can report only numbers
        core = arm_core(cpu.get("vendor"), cpu.get("model_id"))
        return f"{cpu['vendor']} {core}" if core else None
    machine = re.search(r"\b(\d{4})\b", name) if _architecture(cpu) == "s390x" else None
    if machine and machine[1] in cpu_tables().s390x_machines:
        return f"IBM {cpu_tables().s390x_machines[machine[1]]}"
    return name


def cpu_vendor(vendor: str | None, model: str | None) -> str | None:
    if vendor:
        return _VENDORS.get(vendor.strip().lower(), vendor.strip())
    return _MAKERS.get((model or "").split(" ", 1)[0].lower())


def is_virtual_model(model: str | None) -> bool:
    return bool(re.search(_VIRTUAL, model or "", re.IGNORECASE))


def microarchitecture(cpu: Mapping[str, Any]) -> str | None:
    """Return the name of the microarchitecture, such as `skylake`, or None if unknown.

    `cpu`: `environment.cpu` of a run document.
    """
    if is_virtual_model(cpu.get("model")):
        return None
    entry = x86_entry(cpu)
    if entry is not None:
        return entry.microarchitecture
    name = cpu_name(cpu) or ""
    # Try the flags last, because a hypervisor that hides flags makes a CPU look older.
    return microarchitecture_of_name(name) or _of_arm(cpu) or _of_power(cpu) or _by_flags(cpu)


def model_has_aes(cpu: Mapping[str, Any]) -> bool | None:
    """Return whether CPUs of this model have AES hardware, whatever the CPU flags say.

    Return None if unknown, or if only some CPUs of this model have AES hardware.
    """
    if is_virtual_model(cpu.get("model")):
        return None
    name = cpu_name(cpu)
    entry = x86_entry(cpu) or x86_entry_of(microarchitecture_of_name(name or "") or "")
    if entry is not None:
        return entry.has_aes(name)
    generation = _power_generation(cpu)
    if generation is not None:
        return generation >= _POWER_WITH_AES
    return _arm_has_aes(cpu)


def _architecture(cpu: Mapping[str, Any]) -> str:
    return (cpu.get("architecture") or "").lower()


def _of_arm(cpu: Mapping[str, Any]) -> str | None:
    name = cpu_name(cpu) or ""
    maker, _, core = name.partition(" ")
    core = core.split(" + ")[0]  # the fastest of several core types
    parts = {known: part for part, known in cpu_tables().arm_parts.get(maker, {}).items()}
    if core not in parts:
        return None
    for target in TARGETS.values():
        if target.vendor == maker and target.cpu_part == f"0x{parts[core]:03x}":
            return str(target.name)
    return re.sub(r"\W+", "_", core.lower())


def _arm_has_aes(cpu: Mapping[str, Any]) -> bool | None:
    """Return True if archspec (a CPU database) lists AES for the core, otherwise None (unknown)."""
    microarchitecture = _of_arm(cpu) or microarchitecture_of_name(cpu_name(cpu) or "")
    if microarchitecture is None or microarchitecture in cpu_tables().arm_aes_optional:
        return None
    target = TARGETS.get(microarchitecture)
    known = target is not None and str(target.family) == "aarch64" and "aes" in target.features
    return True if known else None


def _power_generation(cpu: Mapping[str, Any]) -> int | None:
    match = re.match(r"IBM POWER(\d+)", cpu_name(cpu) or "")
    return int(match[1]) if match else None


def _of_power(cpu: Mapping[str, Any]) -> str | None:
    generation = _power_generation(cpu)
    if generation is None:
        return None
    name = f"power{generation}{'le' if _architecture(cpu) == 'ppc64le' else ''}"
    return name if name in TARGETS else None


def _by_flags(cpu: Mapping[str, Any]) -> str | None:
    family = _ARCHSPEC_FAMILIES.get(_architecture(cpu))
    flags = frozenset(cpu.get("flags") or ())
    if family is None or not flags:
        return None
    # archspec and Linux use different dots and underscores.
    flags |= {flag.replace("_", ".") for flag in flags} | {flag.replace(".", "_") for flag in flags}
    vendor = cpu.get("vendor") or ""
    fitting = [target for target in TARGETS.values() if _fits(target, vendor, flags, family)]
    best = max(
        fitting, key=lambda target: (len(target.ancestors), len(target.features)), default=None
    )
    return None if best is None or best.vendor == "generic" else str(best.name)


def _fits(target: Microarchitecture, vendor: str, flags: frozenset[str], family: str) -> bool:
    return (
        target.vendor in ("generic", vendor)
        and str(target.family) == family
        and target.features <= flags
    )


@dataclass(frozen=True)
class AesFlags:
    """State whether the CPU flags include AES.

    `reported`: None if AES is not in the list, but the list may be incomplete. `seen`: AES flags.
    """

    reported: bool | None
    seen: tuple[str, ...]


@dataclass(frozen=True)
class _Naming:
    """Define the CPU flags of some architectures by regular expressions.

    `aes`: flags for AES. `full_list`: flags that occur only in complete lists of flags.
    """

    architectures: str
    aes: str
    full_list: str


_NAMINGS = (
    # Linux and macOS use aes, FreeBSD aesni, VIA's PadLock ace_en. pclmulqdq is not AES. Only
    # complete lists begin with fpu.
    _Naming(r"x86_64|amd64|x86|i\d86", r"aes|aesni|vaes|ace2?_en", r"fpu"),
    # HWCAP names of Linux (arch/arm64/kernel/cpuinfo.c), also used by 32-bit kernels on ARMv8.
    _Naming(r"aarch64|arm64|armv\d\w*", r"aes", r"fp|asimd|half|neon|vfp\w*|swp"),
    # HWCAP2 of Power ISA 2.07; some tools print the facility as "in_core crypto".
    _Naming(r"ppc64\w*|powerpc\w*", r"vcrypto|in_core", r"altivec|vsx"),
    # Message-security assist (CPACF): "msa" in /proc/cpuinfo, extensions msa1 to msa12.
    _Naming(r"s390x?", r"msa\d*", r"zarch|stfle"),
    # zkn includes zkne; zknd only decrypts and zknh hashes. zvkn* includes the vector form, zvkned.
    _Naming(r"riscv\d+", r"zkn|zkne|zvkn|zvknc|zvkned|zvkng", r"rv\d+\w*"),
)

_POWER8 = re.compile(r"IBM POWER(?:[89]|\d\d)")


def _words(flags: Iterable[str]) -> set[str]:
    # The ISA string of RISC-V contains the extensions, such as rv64imafdc_zkn.
    words = {flag.lower() for flag in flags}
    return words.union(*(word.split("_") for word in words if word.startswith("rv")))


def aes_flags(cpu: Mapping[str, Any]) -> AesFlags:
    flags = _words(cpu.get("flags") or ())
    architecture = (cpu.get("architecture") or "").lower()
    namings = [naming for naming in _NAMINGS if re.fullmatch(naming.architectures, architecture)]
    seen = {f for naming in namings or _NAMINGS for f in flags if re.fullmatch(naming.aes, f)}
    level = _POWER8.match(cpu_name(cpu) or "")
    if seen:
        return AesFlags(True, tuple(sorted(seen)))
    if level:  # POWER reports a CPU level instead of flags
        return AesFlags(True, (level[0],))
    # Only a complete list of flags proves that the CPU does not report AES.
    full = any(re.fullmatch(naming.full_list, flag) for naming in namings for flag in flags)
    return AesFlags(False if full else None, ())
