"""Define what one line of a text can be: recognisers make events, the fold joins them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from texts.commands import Command
from texts.facts import Fact
from texts.numbers import Unit

PLAIN = 9
"""Level of a heading without marks."""


class Sizes(NamedTuple):
    """Head a table of `openssl speed`: block sizes in bytes."""

    sizes: tuple[int, ...]


class Row(NamedTuple):
    """Give bytes per second for each size of `openssl speed`, None where it prints no rate."""

    label: str
    rates: tuple[float | None, ...]
    child: int | None = None
    """Number of the process of `-multi` that printed it."""
    mark: str = ""
    """What may be between the label and the rates, as a footnote's mark."""


class Counted(NamedTuple):
    """Count blocks in seconds, of `asked` seconds: a `Doing` line."""

    label: str
    size: int
    blocks: int
    seconds: float
    asked: float


class Listed(NamedTuple):
    pairs: tuple[tuple[str, tuple[tuple[float, Unit], ...]], ...]
    """Cipher as printed, and number with unit of each try."""
    doubt: str = ""
    remark: str = ""
    """Words of the line that may tell a setting."""
    mac: str | None = None


class Named(NamedTuple):
    cipher: str


class Moved(NamedTuple):
    bytes: int
    seconds: float


class Took(NamedTuple):
    seconds: float


class Rated(NamedTuple):
    """Report a rate without a cipher: of pv, scp, rsync, or typed."""

    number: float
    unit: Unit
    tool: str
    is_display: bool = False
    """Whether the transfer may go on: then the next rate replaces this one."""
    is_mean: bool = False
    doubt: str = ""
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
    """Block size; then the figure is of `openssl speed`."""
    settings: Mapping[str, Any] = MappingProxyType({})
    doubt: str = ""


class TableRow(NamedTuple):
    cells: tuple[TableCell, ...]


Event = (
    Sizes | Row | Counted | Listed | Named | Moved | Took | Rated | Typed
    | Fact | Words | Known | TableRow
)  # fmt: skip
