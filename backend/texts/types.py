from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from cipherspeed.types import Acceleration, Operation, TargetKind, Tool

Format = Literal["openssl-speed", "cipher-list", "dd", "time", "sbc-bench"]

PARSER_VERSION = 18
"""Version stored with each run. Increase it whenever a text may give different results."""

SERIES = {
    "openssl": ("tool", "cipher", "acceleration", "operation", "block_size", "threads"),
    "ssh": ("tool", "cipher", "acceleration", "mac", "compression", "target_kind", "target_name"),
}


class Figure(NamedTuple):
    """Represent one try: `bytes` and `seconds` if the text has both, otherwise the printed rate."""

    line: int
    tool: Tool
    cipher: str
    format: Format
    position: int = 0
    bytes_per_second: float | None = None
    bytes: int | None = None
    seconds: float | None = None
    block_size: int | None = None
    operation: Operation = "encrypt"
    threads: int = 1
    acceleration: Acceleration = "default"
    mac: str | None = None
    compression: bool = False
    target_kind: TargetKind | None = None
    """Target of ssh; None if unknown. The document then assumes loopback."""
    target_name: str | None = None
    uncertain: str = ""
    """Reason why the result is not selected by default, in about five words; empty if certain."""
    implausible: str = ""
    assumed: tuple[str, ...] = ()
    """Assumptions about missing properties, such as "MB = 1,000,000 bytes" or "loopback"."""

    @property
    def key(self) -> str:
        return f"{self.line}.{self.position}"

    @property
    def series(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SERIES[self.tool]}

    @property
    def rate(self) -> float:
        if self.bytes is not None and self.seconds:
            return self.bytes / self.seconds
        return self.bytes_per_second or 0.0


class Section(NamedTuple):
    line: int
    figures: tuple[Figure, ...]
    environment: Mapping[str, Any] = MappingProxyType({})
    host: str | None = None
    label: str | None = None


class Remark(NamedTuple):
    line: int
    code: str
    detail: str


class Unrecognised(NamedTuple):
    line: int
    text: str


class Reading(NamedTuple):
    format: Format | None
    sections: tuple[Section, ...]
    unrecognised: tuple[Unrecognised, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def figures(self) -> Iterator[Figure]:
        return (figure for section in self.sections for figure in section.figures)


@dataclass(frozen=True)
class Hints:
    """Supply values that a text may lack: format, meaning of MB, bytes per transfer, cipher."""

    format: Format | None = None
    unit: Literal["MB", "MiB"] | None = None
    transferred: int | None = None
    cipher: str | None = None
