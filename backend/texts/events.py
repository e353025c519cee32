"""What one line of a text can be; a recogniser makes these, the fold joins them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from texts.commands import Command
from texts.numbers import Unit


class Sizes(NamedTuple):
    """The head of a table of `openssl speed`: block sizes in bytes."""

    sizes: tuple[int, ...]


class Row(NamedTuple):
    """A row of `openssl speed`: bytes per second for each size, None where it prints no rate."""

    label: str
    rates: tuple[float | None, ...]
    child: int | None = None
    """Number of the process of `-multi` that printed it."""
    mark: str = ""
    """What stands between the label and the rates, as a footnote's mark."""


class Counted(NamedTuple):
    """A `Doing` line, or `+R` of `-mr`: so many blocks in so many seconds, of `asked` seconds."""

    label: str
    size: int
    blocks: int
    seconds: float
    asked: float | None = None


class Begun(NamedTuple):
    """`+DT` of `-mr`: the size that the next `+R` line counts."""

    label: str
    size: int


class Listed(NamedTuple):
    """Ciphers of ssh, each with its rates, on one line."""

    pairs: tuple[tuple[str, str, tuple[tuple[float, Unit], ...]], ...]
    """Cipher, label as printed, and number with unit of each try."""
    doubt: str = ""


class Named(NamedTuple):
    """A cipher's name that stands for the transfers below it."""

    cipher: str
    label: str


class Moved(NamedTuple):
    """The report of dd: bytes and seconds of a transfer."""

    bytes: int
    seconds: float


class Took(NamedTuple):
    """The real time that `time` measured, in seconds."""

    seconds: float


class Rated(NamedTuple):
    """A rate without a cipher: of pv, scp, rsync, or typed."""

    number: float
    unit: Unit
    tool: str
    is_display: bool = False
    """Whether the transfer may go on: then the next rate replaces this one."""
    is_mean: bool = False


class Typed(NamedTuple):
    """A prompt, with the command behind it if there is one."""

    host: str | None
    command: Command | None
    has_prompt: bool


class Learned(NamedTuple):
    """Facts of the machine or of a program."""

    environment: Mapping[str, Any]
    host: str | None = None
    listing: str = ""
    started_at: str | None = None


class Words(NamedTuple):
    """A heading or a sentence; `level` of Markdown's headings, 9 for all others."""

    text: str
    level: int = 9


class Known(NamedTuple):
    """A line that is understood and changes nothing: a notice, the CPU times of `time`."""

    processes: int = 0
    """Number of the last process that `-multi` says it forked, counted from 1."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """Figures of one row of a table by hand."""

    cells: "tuple[TableCell, ...]"


class TableCell(NamedTuple):
    cipher: str
    label: str
    number: float
    unit: Unit
    machine: str = ""
    size: int | None = None
    """Block size; then the figure is of `openssl speed`."""
    settings: Mapping[str, Any] = MappingProxyType({})
    doubt: str = ""


Event = (
    Sizes | Row | Counted | Begun | Listed | Named | Moved | Took | Rated | Typed
    | Learned | Words | Known | TableRow
)  # fmt: skip
