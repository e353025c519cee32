"""What a parser says about a text: figures, facts, remarks, and the lines it did not understand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from documents.types import Acceleration, Operation, Tool

Format = Literal["openssl-speed", "cipher-list", "dd", "time", "sbc-bench"]

PARSER_VERSION = 8
"""Counted up whenever a text may yield other figures than before: `reparse_runs` goes by it.

2: openssl's figures from little CPU time count where they fit those of the sizes beside them.
3: pv, rsync, sftp and `ssh -v`; ranges; tables with a machine a row; HTML on one line; МБ/с.
4: tables only where every column is understood; no rates from times of day; one dd, one figure.
5: no rates from differences, streams, names below results; no machines named after amounts.
6: no rates from the time of a loop, disks, sums of unknown size; targets by headings.
7: openssl's figures without a k only where their counts confirm them; no tables side by side.
8: the machine above openssl's tables; all flags of a list that a terminal parted.
"""


class Figure(NamedTuple):
    """One try of one cipher, as the text states it.

    Either `bytes` and `seconds`, where the text has both exactly, or `bytes_per_second` alone,
    where it only has a rate. A figure that cannot be true is kept with the reason (a sentence)
    in `implausible`; one that is no rate at all (0.00, negative, `infk`) is no figure but a remark.
    """

    line: int
    """Where it stands, counted from 1 in the text as given."""
    tool: Tool
    cipher: str
    """The name the tool itself uses, lower case: `aes-128-cbc`, `chacha20-poly1305`."""
    label: str
    """As printed."""
    bytes_per_second: float | None = None
    bytes: int | None = None
    seconds: float | None = None
    block_size: int | None = None
    operation: Operation = "encrypt"
    threads: int = 1
    acceleration: Acceleration = "default"
    mac: str | None = None
    compression: bool = False
    target_kind: Literal["loopback", "remote"] | None = None
    """Of ssh; None where the text does not say: its document has loopback."""
    target_name: str | None = None
    implausible: str | None = None


@dataclass(frozen=True)
class Remark:
    """Something a reader should know: `code` for programs, `detail` a sentence for people.

    Codes: `not_a_cipher` (rows left out, counted once a text), `zero_rate`, `not_a_rate`
    (negative, `infk`, not a number), `implausible`, `damaged` (a row or a figure cut or broken),
    `blocks_assumed` (no header: block sizes from the number of columns), `repeated` (the same
    figures again, counted once), `children` (rows of single processes of `-multi`, not added),
    `no_cipher` (a rate whose cipher the text does not name), `unit_assumed` (what MB means),
    `unit_unclear` (Mb/s: bits or bytes), `columns_unclear` (several rates on a line, and nothing
    says of what), `order_unclear` (names may stand below their results), `context_unclear` (a
    cipher again, perhaps in another configuration), `limited` (a transfer with a bandwidth limit),
    `target_assumed` (nothing says with which machine the connection was: loopback),
    `command_unclear` (a command that may do more than send bytes through one connection of ssh,
    or of `openssl speed`, than measure ciphers as they are),
    `not_ssh` (results of a disk, of memory, of the far side alone), `no_result` (nothing but
    commands, names and settings in the whole text),
    `wall_clock` (rates from a time that includes the connection's set-up),
    `no_amount` (a time without the number of bytes), `little_cpu_time` (a rate from a fraction of
    the time asked for, which fits those beside it), `parser_failed` (a fault of this program kept
    a parser from reading the text).
    """

    line: int
    code: str
    detail: str


@dataclass(frozen=True)
class Unrecognised:
    """A line that is not blank and that nothing was understood of."""

    line: int
    text: str


@dataclass(frozen=True)
class Section:
    """Figures of one machine in one environment: what becomes one run document.

    `environment` has the shape of a run document's environment, sparse: only what the text says.
    `host` is a name in the text for the machine, if there is one; `started_at` RFC 3339 in UTC,
    if the text says when. Two runs of different versions in one text are two sections.
    """

    line: int
    figures: tuple[Figure, ...]
    environment: Mapping[str, Any] = field(default_factory=dict)
    host: str | None = None
    label: str | None = None
    """What tells it from the other sections of the text: `OpenSSL 1.1.1w`, `CPU cluster 1`."""
    part: str | None = None
    """Which part of the machine was measured, where a text has several: `CPU cluster 1`."""
    started_at: str | None = None
    conditions: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class ParserFailure:
    """An exception in a parser: a fault of this program, whatever the text was."""

    parser: str
    """A format, or the step that failed."""
    traceback: str

    @property
    def remark(self) -> Remark:
        """What the reader of the text should know of it."""
        detail = (
            f"The parser of {self.parser} failed, through a fault of this program. "
            "What it should have read can be read again after an update."
        )
        return Remark(1, "parser_failed", detail)


@dataclass(frozen=True)
class Reading:
    """All that was understood of one text."""

    format: Format | None
    """Of most figures; None where there are none."""
    sections: tuple[Section, ...]
    unrecognised: tuple[Unrecognised, ...]
    remarks: tuple[Remark, ...]
    failures: tuple[ParserFailure, ...] = ()


@dataclass(frozen=True)
class Part:
    """What one format's parser found: `understood` are the lines it can explain."""

    sections: tuple[Section, ...] = ()
    understood: frozenset[int] = frozenset()
    remarks: tuple[Remark, ...] = ()
    format: Format | None = None
    """Of most of its figures; None where there are none."""
    shared: frozenset[int] = frozenset()
    """Understood lines that hold for all commands below them: other parsers read them, too."""
    withheld: frozenset[int] = frozenset()
    """Lines of figures that it left out as unclear: no other parser makes figures of them."""
