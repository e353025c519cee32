"""Define the result of parsing: figures by machine and environment, and other lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cipherspeed.types import Acceleration, Operation, TargetKind, Tool

Format = Literal["openssl-speed", "cipher-list", "dd", "time", "sbc-bench"]
"""Source of the figures; `sbc-bench` reports hold tables of `openssl speed`."""

PARSER_VERSION = 14
"""Stored with each run. Increase it whenever a text may give different figures."""

SERIES = {
    "openssl": ("tool", "cipher", "acceleration", "operation", "block_size", "threads"),
    "ssh": ("tool", "cipher", "acceleration", "mac", "compression", "target_kind", "target_name"),
}
"""Fields that distinguish measurements."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Hold one try: `bytes` and `seconds` where the text has both, else the printed rate."""

    line: int
    tool: Tool
    cipher: str
    format: Format
    position: int = 0
    """Position among the figures of the same line."""
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
    """Of ssh; None if unknown: the document assumes loopback."""
    target_name: str | None = None
    uncertain: str = ""
    """Why the figure is not selected by default, in about five words; empty if it is certain."""
    implausible: str = ""
    """Why the figure cannot be true; such a figure is also uncertain."""
    assumed: tuple[str, ...] = ()
    """Assumptions about missing facts: "MB = 1,000,000 bytes", "loopback"."""

    @property
    def key(self) -> str:
        """Identify the figure within its text: the line, and the position on it."""
        return f"{self.line}.{self.position}"

    @property
    def series(self) -> dict[str, Any]:
        """Return the fields that all tries of a measurement share."""
        return {name: getattr(self, name) for name in SERIES[self.tool]}

    @property
    def rate(self) -> float:
        if self.bytes is not None and self.seconds:
            return self.bytes / self.seconds
        return self.bytes_per_second or 0.0


@dataclass(frozen=True)
class Section:
    """Hold figures of one machine, with those facts of a run document that the text states."""

    line: int
    figures: tuple[Figure, ...]
    environment: Mapping[str, Any] = field(default_factory=dict)
    host: str | None = None
    label: str | None = None
    """Name that distinguishes the section: a heading, or "from line 12"."""


@dataclass(frozen=True)
class Remark:
    """Explain a problem of a line: `code` for programs, `detail` as a sentence."""

    line: int
    code: str
    detail: str


@dataclass(frozen=True)
class Unrecognised:
    """Hold a non-blank line that no recogniser matches."""

    line: int
    text: str


@dataclass(frozen=True)
class Reading:
    format: Format | None
    """Most frequent format; None without figures."""
    sections: tuple[Section, ...]
    unrecognised: tuple[Unrecognised, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def figures(self) -> Iterator[Figure]:
        return (figure for section in self.sections for figure in section.figures)


@dataclass(frozen=True)
class Hints:
    """Supply facts that a text may lack: format, meaning of MB, bytes per transfer, cipher."""

    format: Format | None = None
    unit: Literal["MB", "MiB"] | None = None
    transferred: int | None = None
    cipher: str | None = None
    """For ssh transfers whose text names no cipher."""
