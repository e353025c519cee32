"""What an sbc-bench report says of the board: system, kernel, processors."""

import re
from collections.abc import Callable
from typing import Any

_KERNEL = re.compile(
    r"Linux (?P<release>\d\S*) \([^)]*\)\s.*?(?:_(?P<machine>[^\W_]+(?:_\d+)?)_\s|$)"
)
_FIELD = re.compile(
    r"(?P<name>Distributor ID|Description|Release|Architecture|Vendor ID|Model name"
    r"|Hypervisor vendor|CPU\(s\)|Flags): *(?P<value>\S.*)"
)
_CORE = re.compile(r" *\d+ +(?P<cluster>\d+|-) +\S+ +\S+ +\S+ +(?P<core>\S.*)")
_OS = re.compile(r"(?P<name>[^\d(]*[^\d(\s])\s+v?(?P<version>\d\S*)")
FACT_LIMIT = 200
"""Characters of one fact that are kept."""
CPUS_LIMIT = 4096
MODELS_LIMIT = 16
"""Kinds of processors that one machine has at most."""


class BoardFacts:
    """Collects facts line by line: `lsb_release`, `iostat`, `lscpu` and the topology of cores."""

    def __init__(self) -> None:
        self._os: dict[str, str] = {}
        self._cpu: dict[str, Any] = {}
        self._models: dict[str, None] = {}
        self._cores: dict[str, str] = {}
        self._virtualization: str | None = None
        self._in_topology = False

    def read(self, text: str) -> None:
        """Take in one line of the report."""
        if text.startswith("CPU sysfs topology"):
            self._in_topology = True
        found = _FIELD.match(text)
        if found is not None:
            self._in_topology = False
            self._field(found["name"], found["value"].strip()[:FACT_LIMIT])
        elif self._in_topology and (core := _CORE.fullmatch(text)) and self._has_room():
            self._cores.setdefault(core["cluster"], core["core"].split(" / ")[0][:FACT_LIMIT])
        elif (kernel := _KERNEL.match(text)) and "kernel" not in self._os:
            self._os["kernel"] = f"Linux {kernel['release']}"[:FACT_LIMIT]
            if kernel["machine"]:
                self._cpu.setdefault("architecture", kernel["machine"])

    def _field(self, name: str, value: str) -> None:
        takers: dict[str, Callable[[str], object]] = {
            "Distributor ID": lambda value: self._os.setdefault("id", value.lower()),
            "Description": self._description,
            "Release": lambda value: self._os.setdefault("version", value),
            "Model name": self._model,
            "Vendor ID": lambda value: self._cpu.setdefault("vendor", value),
            "Flags": lambda value: self._cpu.setdefault("flags", value.split()),
            "Hypervisor vendor": self._hypervisor,
            # Twice in a report: what packages are built for, then what the kernel runs on.
            "Architecture": lambda value: self._cpu.__setitem__("architecture", value),
            "CPU(s)": self._threads,
        }
        takers[name](value)

    def _description(self, value: str) -> None:
        found = _OS.match(value)
        self._os.setdefault("name", found["name"] if found else value)
        if found:
            self._os["version"] = found["version"]

    def _model(self, value: str) -> None:
        if len(self._models) < MODELS_LIMIT:
            self._models.setdefault(value)

    def _hypervisor(self, value: str) -> None:
        self._virtualization = self._virtualization or value.lower()

    def _threads(self, value: str) -> None:
        if value.isascii() and value.isdigit() and 0 < int(value[:6]) <= CPUS_LIMIT:
            self._cpu.setdefault("threads", int(value[:6]))

    def _has_room(self) -> bool:
        return len(self._cores) < MODELS_LIMIT

    def core_of(self, number: int) -> str | None:
        """The kind of core of the n-th cluster, counted from 0."""
        return next((core for i, core in enumerate(self._cores.values()) if i == number), None)

    def environment(self, core: str | None) -> dict[str, Any]:
        """The facts in the shape of a run document, for figures measured on one kind of core."""
        model = core or " / ".join(self._models) or None
        result: dict[str, Any] = {
            "cpu": self._cpu | ({"model": model} if model else {}),
            "os": dict(self._os),
        }
        if self._virtualization:
            result["virtualization"] = self._virtualization
        return {name: value for name, value in result.items() if value}
