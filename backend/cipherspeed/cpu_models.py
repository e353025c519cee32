import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

Range = tuple[int, int]


@dataclass(frozen=True)
class X86Entry:
    """Describe x86 CPUs of a vendor and family by inclusive ranges of models and steppings.

    `aes`: whether the CPUs have AES hardware, or None if unknown. `aes_brands`: if only some of the
    CPUs have AES hardware, a regular expression for the names of these CPUs.
    """

    vendor: str
    family: int
    models: tuple[Range, ...]
    steppings: Range | None
    microarchitecture: str
    aes: bool | None
    aes_brands: str | None

    def fits(self, vendor: str | None, family: int | None, model: int, stepping: int) -> bool:
        """Return whether the entry describes a CPU. An unknown stepping (-1) is in no range."""
        if (vendor, family) != (self.vendor, self.family):
            return False
        if self.steppings and not self.steppings[0] <= stepping <= self.steppings[1]:
            return False
        return any(first <= model <= last for first, last in self.models)

    def has_aes(self, name: str | None) -> bool | None:
        if self.aes_brands is None:
            return self.aes
        return True if re.search(self.aes_brands, name or "") else None


@dataclass(frozen=True)
class CpuTables:
    """Hold the tables that are read from data/cpu_models.json.

    `arm_parts`: name of the core, by vendor and part number.
    """

    x86: tuple[X86Entry, ...]
    names: tuple[tuple[str, str], ...]
    arm_parts: Mapping[str, Mapping[int, str]]
    arm_aes_optional: frozenset[str]
    s390x_machines: Mapping[str, str]


def _entry(raw: Mapping[str, Any]) -> X86Entry:
    by_brand = isinstance(raw["aes"], dict)
    return X86Entry(
        vendor=raw["vendor"],
        family=raw["family"],
        models=tuple((first, last) for first, last in raw["models"]),
        steppings=tuple(raw["steppings"]) if "steppings" in raw else None,
        microarchitecture=raw["microarchitecture"],
        aes=None if by_brand else raw["aes"],
        aes_brands=raw["aes"]["brands"] if by_brand else None,
    )


@cache
def cpu_tables() -> CpuTables:
    text = resources.files(__package__).joinpath("data/cpu_models.json").read_text("utf-8")
    raw = json.loads(text)
    return CpuTables(
        x86=tuple(map(_entry, raw["x86"])),
        names=tuple((name["pattern"], name["microarchitecture"]) for name in raw["names"]),
        arm_parts={
            vendor: {int(part, 16): name for part, name in parts.items()}
            for vendor, parts in raw["arm_parts"].items()
        },
        arm_aes_optional=frozenset(raw["arm_aes_optional"]),
        s390x_machines=raw["s390x_machines"],
    )


def x86_entry(cpu: Mapping[str, Any]) -> X86Entry | None:
    model = cpu.get("model_id")
    if model is None:
        return None
    stepping = cpu["stepping"] if cpu.get("stepping") is not None else -1
    return next(
        (
            entry
            for entry in cpu_tables().x86
            if entry.fits(cpu.get("vendor"), cpu.get("family"), model, stepping)
        ),
        None,
    )


def x86_entry_of(microarchitecture: str) -> X86Entry | None:
    return next(
        (cpu for cpu in cpu_tables().x86 if cpu.microarchitecture == microarchitecture), None
    )


def microarchitecture_of_name(name: str) -> str | None:
    names = cpu_tables().names
    return next((codename for pattern, codename in names if re.search(pattern, name)), None)


def arm_core(vendor: str | None, part: int | None) -> str | None:
    return cpu_tables().arm_parts.get(vendor or "", {}).get(part if part is not None else -1)
