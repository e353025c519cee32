"""CPU model names, cleaned so that one CPU has one name whoever reports it."""

import re
from collections.abc import Mapping
from typing import Any

from archspec.cpu import TARGETS, Microarchitecture

_NOISE = (
    (r"\((?:R|TM|C)\)|®|™", " "),
    (r"\s*@.*$", ""),  # "@ 3.40GHz": a nominal clock, not part of the name
    (r"^\d+th Gen\s+", ""),
    (r"\b(?:\d+|Dual|Quad|Six|Eight|Twelve|Sixteen)-Core\b.*$", ""),
    (r"\bwith Radeon.*$", ""),
    (r"\b(?:CPU|Processor)\b", " "),
    (r"\s+", " "),
)

_VENDORS = {
    "genuineintel": "Intel",
    "authenticamd": "AMD",
    "hygongenuine": "Hygon",
    "centaurhauls": "VIA",
    "arm": "ARM",
    "apple": "Apple",
    "ibm": "IBM",
    "power": "IBM",
    "ibm/s390": "IBM",
    "geodebynsc": "National Semiconductor",
}

_ARCHSPEC_FAMILIES = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "aarch64": "aarch64",
    "arm64": "aarch64",
}


def clean_cpu_model(model: str | None) -> str | None:
    """ "Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz" -> "Intel Core i7-3770"; None stays None."""
    if not model:
        return None
    for pattern, replacement in _NOISE:
        model = re.sub(pattern, replacement, model, flags=re.IGNORECASE)
    return model.strip() or None


def cpu_vendor(vendor: str | None, model: str | None) -> str | None:
    """The maker's usual name, from the CPU's own vendor string or else from its model name."""
    if vendor:
        return _VENDORS.get(vendor.strip().lower(), vendor.strip())
    first = (model or "").split(" ", 1)[0].lower()
    return {"intel": "Intel", "amd": "AMD", "apple": "Apple", "arm": "ARM"}.get(first)


def _fits(target: Microarchitecture, vendor: str, flags: frozenset[str], family: str) -> bool:
    return (
        target.vendor in ("generic", vendor)
        and str(target.family) == family
        and target.features <= flags
    )


def microarchitecture(cpu: Mapping[str, Any]) -> str | None:
    """The most specific microarchitecture that archspec knows for these flags, else None.

    It names what the guest can see: a hypervisor that hides instructions makes a newer CPU
    look like an older one. A generic level (x86_64_v3) is no microarchitecture: None.
    """
    family = _ARCHSPEC_FAMILIES.get((cpu.get("architecture") or "").lower())
    flags = frozenset(cpu.get("flags") or ())
    vendor = cpu.get("vendor") or ""
    if family is None or not flags:
        return None
    # archspec writes dotted names as Linux writes underscored ones, or the other way round.
    flags |= {flag.replace("_", ".") for flag in flags} | {flag.replace(".", "_") for flag in flags}
    fitting = [target for target in TARGETS.values() if _fits(target, vendor, flags, family)]
    best = max(
        fitting, key=lambda target: (len(target.ancestors), len(target.features)), default=None
    )
    if best is None or best.vendor == "generic":
        return None
    return str(best.name)
