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
    """What stands between the label and the rates, as a footnote's mark."""


class Counted(NamedTuple):
    """Count blocks in seconds, of `asked` seconds: a `Doing` line, or `+R` of `-mr`."""

    label: str
    size: int
    blocks: int
    seconds: float
    asked: float | None = None


class Begun(NamedTuple):
    """Announce the size that the next `+R` line counts (`+DT` of `-mr`)."""

    label: str
    size: int


class Listed(NamedTuple):
    """List ciphers of ssh with their rates on one line."""

    pairs: tuple[tuple[str, str, tuple[tuple[float, Unit], ...]], ...]
    """Cipher, label as printed, and number with unit of each try."""
    doubt: str = ""


class Named(NamedTuple):
    """Name the cipher of the transfers below."""

    cipher: str
    label: str


class Moved(NamedTuple):
    """Report bytes and seconds of a transfer, as dd does."""

    bytes: int
    seconds: float


class Took(NamedTuple):
    """Report the real time of a transfer, as `time` does."""

    seconds: float


class Rated(NamedTuple):
    """Report a rate without a cipher: of pv, scp, rsync, or typed."""

    number: float
    unit: Unit
    tool: str
    is_display: bool = False
    """Whether the transfer may go on: then the next rate replaces this one."""
    is_mean: bool = False


class Typed(NamedTuple):
    """Hold a prompt, with the command behind it if there is one."""

    host: str | None
    command: Command | None
    has_prompt: bool


class Words(NamedTuple):
    """Hold a heading or a sentence; `level` is 1 to 6 for headings of Markdown."""

    text: str
    level: int = PLAIN


class Known(NamedTuple):
    """Mark a line that changes nothing: a notice, the CPU times of `time`."""

    processes: int = 0
    """Number of the last process that `-multi` says it forked, counted from 1."""


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


class TableRow(NamedTuple):
    """Hold the figures of one row of a table by hand."""

    cells: tuple[TableCell, ...]


Event = (
    Sizes | Row | Counted | Begun | Listed | Named | Moved | Took | Rated | Typed
    | Fact | Words | Known | TableRow
)  # fmt: skip
