"""The runs of `openssl speed` in a text: what each was called with, said and measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from parsers.openssl import build_facts
from parsers.openssl.cipher_names import canonical_cipher
from parsers.openssl.commands import Command, command_for
from parsers.openssl.doing import Count, PairedResults
from parsers.openssl.headings import Told
from parsers.openssl.tables import (
    Header,
    Row,
)


class PrintedRow(NamedTuple):
    """A row of a table or of `-mr`, and the header over it."""

    line: int
    row: Row
    header: Header | None
    machine: bool = False
    """Whether it was printed for programs, in plain bytes per second."""


@dataclass
class Run:
    """One start of `openssl speed`, or one table of several in a row."""

    line: int
    command: Command | None = None
    commands: tuple[Command, ...] = ()
    """Those that may have made it: of one line, or of one script."""
    mixed: bool = False
    """Whether they differ in more than the output repeats."""
    under: str | None = None
    """The command that printed it, if that is not known to be `openssl speed`."""
    standing_mask: str | None = None
    host: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    """What the text says of the machine, in the shape of a run document."""
    mask: str | None = None
    said_masked: bool = False
    """Whether a heading says that AES was off."""
    remarked_masked: bool = False
    """Whether a remark beside its command does."""
    told: Told = ""
    """What a heading says of how it was measured."""
    told_at: int | None = None
    """The line that says, or may say, of another direction, of several processes or of a mask."""
    heading: str | None = None
    """The text of other origin that stands before it: who or what was measured."""
    rows: list[PrintedRow] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    paired: PairedResults = field(default_factory=PairedResults)
    sizes: Header | None = None
    children: dict[int, PrintedRow] = field(default_factory=dict)
    forked: set[int] = field(default_factory=set)
    child_line: int | None = None
    elapsed: bool = False
    aead: bool = False
    """Whether the last command above measured the block sizes of `-aead`."""
    own_command: bool = False
    """Whether `command` stands before this run, and not before an earlier one."""
    foreign_rows: bool = False
    """Whether rows of algorithms that are no ciphers have been seen."""
    closed: bool = False
    """Whether the version that ends the list of `Doing` lines has been read."""

    @property
    def is_unclear(self) -> bool:
        """Whether it is not known how its figures were measured."""
        return bool(self.commands) and (self.command is None or self.command.problem)

    def choose_command(self) -> None:
        """Settle which of several commands it is of, by all that it printed itself."""
        if len(self.commands) < 2:
            return
        labels = [printed.row.label for printed in self.rows] + [one.label for one in self.counts]
        printed = [canonical_cipher(label) for label in labels]
        self.command = command_for(list(filter(self._may_be_of, self.commands)), printed)
        if self.command is not None:
            self.machine = self.machine if self.command.host == self.host else {}
            self.host = self.command.host
            self.elapsed |= self.command.elapsed
            self.mask = self.command.mask or self.standing_mask

    def _may_be_of(self, command: Command) -> bool:
        """Whether what it says of its processes and its mask is true of a command."""
        if (self.counts and command.multi) or (self.child_line and not command.multi):
            return False
        settings = self.facts.get("cpu_settings", "")
        told = build_facts.mask_in_settings(settings)
        mask = command.mask or self.standing_mask
        return not settings.startswith("OPENSSL_") or told == mask

    @property
    def awaits_output(self) -> bool:
        """Whether nothing of what its own command printed has been seen."""
        seen = self.has_results or self.counts or self.closed or self.child_line
        return self.own_command and not seen

    @property
    def has_results(self) -> bool:
        """Whether figures have been seen, so that what follows belongs to another run."""
        return bool(self.rows) or self.foreign_rows

    @property
    def lines(self) -> set[int]:
        """The lines of its figures."""
        counts = (*self.counts, *self.paired.counts)
        return {row.line for row in self.rows} | {one.line for one in counts}

    @property
    def setting(self) -> tuple[str, ...]:
        """What tries of one thing have in common beside what a figure says itself."""
        told = self.command.setting if self.command is not None else ()
        return (*told, "elapsed") if self.elapsed else told

    @property
    def is_multi(self) -> bool:
        """Whether several processes measured at once."""
        several = self.child_line is not None or self.paired.interleaved
        return several or (self.command is not None and self.command.multi)
