from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from texts.commands import Command
from texts.facts import Fact
from texts.numbers import Unit

PLAIN = 9


class Sizes(NamedTuple):
    sizes: tuple[int, ...]


class Row(NamedTuple):
    """Describe rates by block size of `openssl speed`, in bytes per second; None if missing."""

    label: str
    rates: tuple[float | None, ...]
    child: int | None = None
    mark: str = ""
    machine: str = ""


class Counted(NamedTuple):
    """Describe a `Doing` line: `blocks` in `seconds` of CPU time; `requested` seconds."""

    label: str
    size: int
    blocks: int
    seconds: float
    requested: float


class Listed(NamedTuple):
    pairs: tuple[tuple[str, tuple[tuple[float, Unit], ...]], ...]
    caveat: str = ""
    remark: str = ""
    mac: str | None = None
    machine: str = ""


class Named(NamedTuple):
    cipher: str | None
    mac: str | None = None


class Failed(NamedTuple):
    """Mark an error message. The rate of the transfer is that of an interrupted stream."""


class Moved(NamedTuple):
    bytes: int
    seconds: float


class Elapsed(NamedTuple):
    seconds: float


class Rated(NamedTuple):
    number: float
    unit: Unit
    tool: str
    is_display: bool = False
    is_mean: bool = False
    caveat: str = ""
    amount: int | None = None


class Typed(NamedTuple):
    host: str | None
    command: Command | None


class Words(NamedTuple):
    text: str
    level: int = PLAIN


class TableCell(NamedTuple):
    cipher: str
    number: float
    unit: Unit
    machine: str = ""
    size: int | None = None
    settings: Mapping[str, Any] = MappingProxyType({})
    caveat: str = ""


class TableRow(NamedTuple):
    cells: tuple[TableCell, ...]


Event = (
    Sizes | Row | Counted | Listed | Named | Moved | Elapsed | Rated | Typed
    | Failed | Fact | Words | TableRow
)  # fmt: skip
