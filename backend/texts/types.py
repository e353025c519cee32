"""Define what a text says: figures by machine and environment, and all other lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cipherspeed.types import Acceleration, Operation, TargetKind, Tool

Format = Literal["openssl-speed", "cipher-list", "dd", "time", "sbc-bench"]
"""What printed the figures; `sbc-bench` reports hold tables of `openssl speed`."""

PARSER_VERSION = 13
"""Raised whenever a text may yield other figures than before; stored with each run."""

SERIES = {
    "openssl": ("tool", "cipher", "acceleration", "operation", "block_size", "threads"),
    "ssh": ("tool", "cipher", "acceleration", "mac", "compression", "target_kind", "target_name"),
}
"""Fields that tell one measurement from another."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Hold one try: `bytes` and `seconds` where the text has both, else the printed rate."""

    line: int
    tool: Tool
    cipher: str
    format: Format
    place: int = 0
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
    """Of ssh; None where the text does not say: the document assumes loopback."""
    target_name: str | None = None
    uncertain: str = ""
    """Why the figure is not taken unasked, in about five words; empty when it is certain."""
    implausible: str = ""
    """Why the figure cannot be true; such a figure is also uncertain."""
    assumed: tuple[str, ...] = ()
    """What the text does not say: "MB = 1,000,000 bytes", "loopback"."""

    @property
    def key(self) -> str:
        """Identify the figure within its text: the line, and the position on it."""
        return f"{self.line}.{self.place}"

    @property
    def series(self) -> dict[str, Any]:
        """Return what tries of one measurement share."""
        return {name: getattr(self, name) for name in SERIES[self.tool]}

    @property
    def rate(self) -> float:
        if self.bytes is not None and self.seconds:
            return self.bytes / self.seconds
        return self.bytes_per_second or 0.0


@dataclass(frozen=True)
class Section:
    """Hold figures of one machine in one environment, which become one run document.

    `environment` has the shape of a run document's environment, with only what the text says.
    """

    line: int
    figures: tuple[Figure, ...]
    environment: Mapping[str, Any] = field(default_factory=dict)
    host: str | None = None
    label: str | None = None
    """What distinguishes the section within its text: a heading, or "from line 12"."""


@dataclass(frozen=True)
class Remark:
    """Note something on a line: `code` for programs, `detail` a sentence for people."""

    line: int
    code: str
    detail: str


@dataclass(frozen=True)
class Unrecognised:
    """Keep a line that is not blank and that no recogniser knows."""

    line: int
    text: str


@dataclass(frozen=True)
class Reading:
    format: Format | None
    """Of most figures; None where there are none."""
    sections: tuple[Section, ...]
    unrecognised: tuple[Unrecognised, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def figures(self) -> Iterator[Figure]:
        return (figure for section in self.sections for figure in section.figures)


@dataclass(frozen=True)
class Hints:
    """Say what a text may not: format, meaning of MB, bytes of each transfer, cipher."""

    format: Format | None = None
    unit: Literal["MB", "MiB"] | None = None
    transferred: int | None = None
    cipher: str | None = None
    """Of ssh transfers whose text names none."""
