"""The lines of an ssh text in turn: what the ones before make the next one mean."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from documents.types import Acceleration
from parsers.ssh.cipher_loops import ListReader
from parsers.ssh.commands import Command
from parsers.ssh.dd_lines import DdSummary
from parsers.ssh.environment import facts_of_title, merged, names_machine
from parsers.ssh.headings import (
    NOTHING,
    Headed,
    counts_tries,
    is_direction,
    is_same_machine,
    names_other_tool,
    names_setting,
    said_in,
)
from parsers.ssh.hints import NAME, RATE
from parsers.ssh.lines import (
    Agreed,
    CutSummary,
    Event,
    Facts,
    Failure,
    Records,
    Setting,
    events_of,
)
from parsers.ssh.list_tokens import tokens_of
from parsers.ssh.listed import ListedName, ListedRate, ListedTitle
from parsers.ssh.names import CipherName
from parsers.ssh.time_blocks import TimeSpan
from parsers.ssh.transfer_reports import Kind, Report, Transferred
from parsers.ssh.try_blocks import LISTING, Block, Clock
from parsers.ssh.units import UNIT

NOTHING_SAID = Command(ssh=True, by_variable=True, names="before")
TITLE_LIMIT = 120
MOST_FOUND = 50_000
MOST_PLACES = 1_000
"""Machines, of which run documents hold 200."""

_STATES_RATE = re.compile(r"\d ?" + UNIT, re.I)
_ONE_WORD = re.compile(r"\s*[\w@.+-]{1,80}\s*")


@dataclass
class Place:
    """A machine in one environment, as the text tells it from others."""

    line: int
    host: str | None = None
    label: str | None = None
    heading: "_Title | None" = None
    """The heading above it, which is its label if another machine's figures follow."""
    after: "Place | None" = None
    """The place before it, where nothing but repeated ciphers tells the two apart."""
    measured: bool = False
    environment: dict[str, Any] = field(default_factory=dict)
    seen: set[tuple[Any, ...]] = field(default_factory=set)


class Found(NamedTuple):
    """A printed rate, or a block of measurements, with the place it belongs to."""

    line: int
    what: ListedRate | Block
    command: Command
    place: Place
    context: tuple[int, int] = (0, 0)
    """As of a block: results of a cipher in another context are no further tries of it."""


@dataclass
class _Title:
    """A heading that is not about one cipher: it may begin another machine's figures."""

    line: int
    text: str

    @property
    def label(self) -> str:
        """Its words, without what makes them a heading."""
        return self.text.strip(" #=-*_:~")


@dataclass
class SshSequence:
    """Reads lines in turn; `found`, `places` and the rest hold what they said."""

    lists: ListReader
    depths: Mapping[int, int] = field(default_factory=dict)
    """How deep a line is quoted, for those that are."""
    found: list[Found] = field(default_factory=list)
    places: list[Place] = field(default_factory=lambda: [Place(1)])
    understood: set[int] = field(default_factory=set)
    missed: set[int] = field(default_factory=set)
    """Lines that were not understood, or of which a piece was not."""
    cut: list[int] = field(default_factory=list)
    commands: list[tuple[int, Command]] = field(default_factory=list)
    _line: int = 1
    _base: Command = NOTHING_SAID
    _block: Block = field(default_factory=lambda: Block(1, NOTHING_SAID))
    _heading: _Title | None = None
    _last: _Title | None = None
    _first: Block | None = None
    """The first result since the last command that sends through ssh."""
    _found_before: int = 0
    """How many were found before that command."""
    _prints_name: bool = False
    """Whether a script printed a variable since the ssh command before."""
    _breaks: list[int] = field(default_factory=lambda: [0])
    """Lines that are not understood, the one in force last."""
    _heads: Headed = NOTHING
    _masked: Acceleration = "default"
    _bare_names: int = 0
    _listing: bool = False
    _rows: set[str] = field(default_factory=set)
    """Titles of rows and columns that are machines."""

    def read(self, numbers: Sequence[int], text: str, hints: int) -> None:
        """One line (or a command of several)."""
        self._line = numbers[0]
        events = events_of(text, self.lists, hints)
        meant = [self._take(event) for event in events]
        if any(meant):
            self.understood.update(numbers)
            return
        self.missed.update(numbers)
        if not (events or (hints & NAME and hints & RATE and _names_cipher(text))):
            self._maybe_title(text)
        self._not_understood(text)

    def _not_understood(self, text: str) -> None:
        """A line of another matter: what is measured below it may not be the cipher's any more.

        Until a cipher has a result, only a line about another tool or cipher takes it away, or any
        line where the cipher was one of a list.
        """
        if not _ONE_WORD.fullmatch(text):
            self._listing = False
        block = self._block
        is_output = block.command.typed and not block.command.ssh
        if not is_output and not is_same_machine(text):
            self._breaks.append(self._line)
        in_force = block.command.ssh and (block.cipher is not None or block.command.typed)
        if not in_force or counts_tries(text):
            return
        is_other = names_other_tool(text) or _names_other_cipher(text, block.cipher)
        if is_other or not block.is_empty or block.listed > 1:
            self._close()
            self._block.foreign = True

    @property
    def is_full(self) -> bool:
        """Whether no text of measurements has so many: what follows would only cost time."""
        return len(self.found) >= MOST_FOUND or len(self.places) + len(self._rows) >= MOST_PLACES

    def end(self) -> None:
        """The last block is over."""
        self._end_results()

    def _take(self, event: Event) -> bool:
        """One event; False if it means nothing where it stands."""
        if isinstance(event, ListedRate):
            return self._rate(event)
        if isinstance(event, Command):
            self._command(event)
        elif isinstance(event, ListedName):
            self._name(event)
        elif isinstance(event, ListedTitle):
            self._maybe_title(event.text)
        elif isinstance(event, Facts):
            self._facts(event)
        elif isinstance(event, (DdSummary, TimeSpan, Records, Report)):
            self._result(event)
        else:
            self._remark(event)
        return True

    def _result(self, event: DdSummary | TimeSpan | Records | Report) -> None:
        block = self._block
        if isinstance(event, Records):
            block.records = block.records or event.counts
        elif isinstance(event, DdSummary):
            block.add_summary(self._line, event)
        elif isinstance(event, Report):
            block.add_rate(self._line, event)
        elif event.kind == "real":
            block.clocks.append(Clock(self._line, event.seconds))
        self._bare_names = 0

    def _remark(self, event: Event) -> None:
        """What changes the meaning of the block it stands in."""
        block = self._block
        if isinstance(event, Failure):
            block.failed = True
        elif isinstance(event, CutSummary):
            self.cut.append(self._line)
        elif isinstance(event, Transferred):
            block.moved = event.moved
        elif isinstance(event, Agreed):
            self._agreed(event)
        elif isinstance(event, Setting):
            block.mac = event.mac or block.mac
            if event.compression is not None:
                block.compression = event.compression

    def _agreed(self, event: Agreed) -> None:
        """A new connection in a client's log; it is the command's unless that has its results."""
        if not self._block.is_empty:
            self._close()
        block = self._block
        if block.cipher is None or block.agreed:
            block.cipher, block.agreed = event.cipher, True
        block.compression |= event.compression

    def _facts(self, event: Facts) -> None:
        if event.node and self._place.host not in (None, event.node):
            self._new_place(self._place.label)
        if event.node:
            self._place.host = event.node
        place = self._place
        place.environment = merged(place.environment, event.environment)

    @property
    def _place(self) -> Place:
        return self.places[-1]

    def _new_place(self, label: str | None) -> None:
        """Another machine or configuration; one of which nothing is known yet takes its label."""
        self._close()
        if self._place.measured:
            heading = self._place.heading
            if heading and not self._place.label:
                self._place.label = heading.label
                self.understood.add(heading.line)
            self.places.append(Place(self._line, label=label))
        else:
            self._place.label = label

    def _command(self, command: Command) -> None:
        self.commands.append((self._line, command))
        if command.host and command.host != self._place.host:
            if self._place.host is not None:
                self._new_place(None)
            self._place.host = command.host
        if command.typed or command.lists_ciphers:
            self._listing = command.lists_ciphers
        if command.masks is not None and not command.ssh and command.amount is None:
            self._masked = command.masks
        if command.ssh:
            self._transfer(command)
        else:
            self._elsewhere(command)

    def _elsewhere(self, command: Command) -> None:
        """A command that sends nothing through ssh; in a script it may prepare what is sent."""
        if command.names and self._base.names:
            self._prints_name = True
        elif command.names and self._block.is_empty and len(self.found) == self._found_before:
            self._base = replace(self._base, names="after")
        if command.far_end and command.by_variable:
            self._base = command
        elif command.amount is not None and not command.typed:
            self._base = replace(self._base, amount=command.amount)
        if (command.typed and not command.traced) or command.apart or command.lists_ciphers:
            self._open(Block(self._line, command))
        elif command.amount is not None and self._block.is_empty:
            self._block.command = replace(self._block.command, amount=command.amount)

    def _transfer(self, command: Command) -> None:
        """A command that sends through ssh; a heading right before it may name the cipher."""
        self._listing = False
        earlier = self._block
        self._end_results()
        if self._prints_name and not command.names:
            command = replace(command, names="before")
        self._prints_name = False
        pending = earlier.is_empty and earlier.cipher is not None
        same = command.cipher is None or command.cipher == earlier.cipher
        if command.amount is None and (pending or not command.typed or command.traced):
            command = replace(command, amount=self._base.amount)
        self._base = command
        command = self._context(command)
        block = Block(self._line, command, command.cipher, command.mac)
        block.compression = command.compression
        if pending and same and earlier.command is not command:
            block.cipher, block.attempt = earlier.cipher, earlier.attempt
            block.mac = block.mac or earlier.mac
            block.compression |= earlier.compression
        self._open(block)

    def _end_results(self) -> None:
        """The results of one command, none of them certain if the names may stand below them.

        So they may if the command says so, or if a result comes first and a name last.
        """
        last = self._block
        self._close()
        first, base = self._first, self._base
        result_first = first is not None and first.cipher is None and not first.is_elsewhere
        name_last = first is not None and last.cipher is not None and last.lacks(first)
        if base.names == "after" or (base.by_variable and result_first and name_last):
            last.cipher = None
            for one in self.found[self._found_before :]:
                if isinstance(one.what, Block):
                    one.what.unordered = True
        self._first, self._found_before = None, len(self.found)

    def _name(self, name: ListedName) -> None:
        if self._listing and name.bare:
            return
        self._bare_names = self._bare_names + 1 if name.bare else 0
        self._use_title((name.cipher.name, name.mac))
        base = self._context(self._base)
        block = Block(self._line, base, name.cipher, name.mac or base.mac)
        block.attempt = name.attempt
        block.compression = base.compression
        block.listed = self._bare_names
        block.remark = name.remark
        self._open(block)

    def _rate(self, rate: ListedRate) -> bool:
        self._bare_names = 0
        block = self._block
        if rate.problem and rate.cipher is None and (block.cipher or rate.table):
            self.found.append(Found(self._line, rate, self._base, self._place))
            return True
        if rate.cipher is None:
            is_complete = block.rates and block.rates[0][0] == block.line
            if rate.unit is None or block.failed or is_complete:
                return False
            kind: Kind = "mean" if rate.mean else "try"
            report = Report(rate.number, rate.unit, kind)
            if block.cipher is None:
                self._first = self._first or Block(self._line, self._base, rates=[(0, report)])
                return False
            block.add_rate(self._line, report)
            return True
        if self._block.cipher is not None:
            self._close()
        self._use_title((rate.cipher.name, rate.mac))
        self._first = self._first or Block(self._line, self._base, rate.cipher)
        command = self._context(self._base)
        self._found(Found(self._line, rate, command, self._place, self._here))
        return True

    def _found(self, one: Found) -> None:
        if isinstance(one.what, ListedRate) and one.what.column:
            self._rows.add(one.what.column)
        self.found.append(one)
        one.place.measured = True

    def _open(self, block: Block) -> None:
        self._close()
        block.command, block.context = self._context(block.command), self._here
        self._block = block

    def _close(self) -> None:
        block = self._block
        is_listing = block.listed >= LISTING and not self.found
        if is_listing or 2 <= block.listed <= block.results:
            block.cipher, block.foreign = None, True
        if not block.is_empty:
            self._first = self._first or block
            self._found(Found(block.line, block, block.command, self._place, block.context))
        self._block = Block(self._line, self._context(self._base), context=self._here)

    @property
    def _here(self) -> tuple[int, int]:
        return self._breaks[-1], self.depths.get(self._line, 0)

    def _context(self, command: Command) -> Command:
        """The command, under the heading above and the mask that the shell was told to export."""
        command = self._headed(command)
        if command.masks or self._masked == "default":
            return command
        return replace(command, masks=self._masked)

    def _maybe_title(self, text: str) -> None:
        """Kept for the figures that may follow; what it says is looked at only then."""
        if len(text) > TITLE_LIMIT:
            return
        if text.rstrip().endswith(":") or text.lstrip()[:1] in ("#", "=", "-", "*"):
            self._heading = _Title(self._line, text)
        self._last = _Title(self._line, text)

    def _title(self) -> _Title | None:
        """The heading before the present line: the last line if it names a machine or a mask."""
        last, heading = self._last, self._heading
        self._last = self._heading = None
        if last and (names_machine(last.text) or names_setting(last.text)):
            return last
        return heading

    def _use_title(self, first: tuple[str, str | None]) -> None:
        """The figures after a heading are another machine's if it names one, or if they repeat."""
        title = self._title() if self._last or self._heading else None
        if title is None:
            self._place.seen.add(self._key(first))
            return
        self._settings_of(title, first)
        repeats = self._key(first) in self._place.seen
        is_try = is_same_machine(title.text)
        is_used = is_try or names_setting(title.text)
        is_new = names_machine(title.text) or (repeats and not is_direction(title.text))
        if not is_try and is_new:
            is_used = True
            before = self._place
            self._new_place(title.label)
            if self._place is not before and not names_machine(title.text):
                self._place.after = before
            facts = facts_of_title(title.text)
            self._place.environment = merged(self._place.environment, facts)
        elif not (is_used or self._place.measured):
            self._place.heading = title
        if is_used and not _STATES_RATE.search(title.text):
            self.understood.add(title.line)
            if title.line == self._breaks[-1] and (is_try or not repeats):
                self._breaks.pop()
        self._place.seen.add(self._key(first))

    def _key(self, first: tuple[str, str | None]) -> tuple[Any, ...]:
        """What makes a cipher's figures tries of one series."""
        base = self._headed(self._base)
        return (*first, base.masks, base.compression, base.mac)

    def _settings_of(self, title: _Title, first: tuple[str, str | None]) -> None:
        """A MAC, compression or a mask that a heading says of what follows it.

        The next heading ends them if it is about the default, or if the same ciphers begin anew.
        """
        said = said_in(title.text)
        plain = names_setting(title.text) and said == NOTHING
        if plain or said != NOTHING or self._key(first) in self._place.seen:
            self._heads = NOTHING if said == NOTHING else said

    def _headed(self, command: Command) -> Command:
        """The command with what the heading above says."""
        heads = self._heads
        is_said = (
            (heads.masks is None or command.masks is not None)
            and (heads.mac is None or command.mac is not None)
            and (command.compression or not heads.compression)
        )
        if is_said:
            return command
        return replace(
            command,
            masks=command.masks or heads.masks,
            compression=command.compression or heads.compression,
            mac=command.mac or heads.mac,
        )


def _names_cipher(text: str) -> bool:
    return any(token.cipher for token in tokens_of(text))


def _names_other_cipher(text: str, cipher: CipherName | None) -> bool:
    named = [token.cipher for token in tokens_of(text) if token.cipher]
    return any(one.unmistakable and cipher and one.name != cipher.name for one in named)
