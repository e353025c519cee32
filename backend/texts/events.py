"""Define the events that recognisers make from lines and the fold combines."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from texts.commands import Command
from texts.facts import Fact
from texts.numbers import Unit

PLAIN = 9
"""Level of a heading without marks."""


class Sizes(NamedTuple):
    """List the block sizes in a table header of `openssl speed`, in bytes."""

    sizes: tuple[int, ...]


class Row(NamedTuple):
    """Hold bytes per second for each block size of `openssl speed`; None if it prints no rate."""

    label: str
    rates: tuple[float | None, ...]
    child: int | None = None
    """Number of the process of `-multi` that printed it."""
    mark: str = ""
    """Text between the label and the rates, such as a footnote mark."""


class Counted(NamedTuple):
    """Hold the number of blocks in `seconds`, `requested` seconds: a `Doing` line."""

    label: str
    size: int
    blocks: int
    seconds: float
    requested: float


class Listed(NamedTuple):
    pairs: tuple[tuple[str, tuple[tuple[float, Unit], ...]], ...]
    """Cipher as printed, and number with unit of each try."""
    caveat: str = ""
    remark: str = ""
    """Words of the line that may state a setting."""
    mac: str | None = None


class Named(NamedTuple):
    cipher: str


class Moved(NamedTuple):
    bytes: int
    seconds: float


class Elapsed(NamedTuple):
    seconds: float


class Rated(NamedTuple):
    """Hold a rate without a cipher, printed by pv, scp or rsync, or typed."""

    number: float
    unit: Unit
    tool: str
    is_display: bool = False
    """The transfer may continue: the next rate replaces this one."""
    is_mean: bool = False
    caveat: str = ""
    amount: int | None = None


class Typed(NamedTuple):
    """Hold a prompt, with the command behind it if there is one."""

    host: str | None
    command: Command | None


class Words(NamedTuple):
    """Hold a heading or a sentence; `level` is 1 to 6 for headings of Markdown."""

    text: str
    level: int = PLAIN


class Known(NamedTuple):
    """Mark a line that changes nothing: a notice, the CPU times of `time`."""


class TableCell(NamedTuple):
    cipher: str
    number: float
    unit: Unit
    machine: str = ""
    size: int | None = None
    """Block size of a figure of `openssl speed`."""
    settings: Mapping[str, Any] = MappingProxyType({})
    caveat: str = ""


class TableRow(NamedTuple):
    cells: tuple[TableCell, ...]


Event = (
    Sizes | Row | Counted | Listed | Named | Moved | Elapsed | Rated | Typed
    | Fact | Words | Known | TableRow
)  # fmt: skip
