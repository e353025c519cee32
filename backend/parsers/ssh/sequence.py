"""The lines of an ssh text in turn: what the ones before make the next one mean."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from parsers.ssh.commands.command import Command
from parsers.ssh.dd_lines import DdSummary
from parsers.ssh.headings import (
    Title,
    changes_nothing,
    is_file_name,
    names_other_tool,
)
from parsers.ssh.hints import NAME, RATE
from parsers.ssh.lines import (
    Agreed,
    Answer,
    Aside,
    CutSummary,
    Event,
    Failure,
    Records,
    Setting,
    events_of,
)
from parsers.ssh.lists.cipher_loops import ListReader
from parsers.ssh.lists.list_tokens import tokens_of
from parsers.ssh.lists.listed import ListedName, ListedRate, ListedTitle, TableTitles
from parsers.ssh.lists.untitled_columns import Above
from parsers.ssh.machine_facts import Facts
from parsers.ssh.names import CipherName
from parsers.ssh.reading_state import Found, ReadingState
from parsers.ssh.shell import Shell
from parsers.ssh.time_blocks import TimeSpan
from parsers.ssh.titles import keeps_place
from parsers.ssh.transfer_reports import Copying, Kind, Report, SentPart, Transferred
from parsers.ssh.try_blocks import Block, Clock
from parsers.ssh.units import UNIT

_RESULTS = (
    *(ListedName, DdSummary, TimeSpan, Records, Report, CutSummary),
    *(Transferred, SentPart, Copying, Agreed, Aside),
)
"""What a list or a transfer prints: it leaves machine, settings and versions as they were."""
_OF_TRANSFERS = (ListedRate, ListedName, DdSummary, TimeSpan, Report)
_NUMBER_OF_RATE = re.compile(r"\d ?" + UNIT + r"|(?<![\w.,-])\d+[.,]\d+(?![\w.,])", re.I)
_ONE_WORD = re.compile(r"\s*[\w@.-]{1,80}\s*")


@dataclass
class SshSequence:
    """Reads lines in turn: what one says changes the state for the next."""

    lists: ListReader
    state: ReadingState
    gaps: frozenset[int] = frozenset()
    """Lines before which another parser understood some."""
    missed: set[int] = field(default_factory=set)
    """Lines that were not understood, or of which a piece was not."""
    cut: list[int] = field(default_factory=list)
    _columns: str = ""
    """Titles of the last table, as they stand."""
    _above: Above = field(default_factory=Above)
    _bare_names: int = 0
    _last_line: int = 0
    _below_words: Literal["", "words", "results"] = ""
    """Whether the line before, or the results before it, stand right below a line of words."""

    def __post_init__(self) -> None:
        """The shell and the lines share one state."""
        self.shell = Shell(self.state)

    def read(self, numbers: Sequence[int], text: str, hints: int) -> None:
        """One line (or a command of several)."""
        is_blank = numbers[0] > self._last_line + 1
        self.state.line, self._last_line = numbers[0], numbers[-1]
        events = events_of(text, self.lists, hints)
        self._above.doubt(events, self.lists)
        if not self.gaps.isdisjoint(numbers) or (is_blank and self._below_words == "results"):
            self.state.end_series()
            if self.state.may_leave:
                self.state.leave(None)
        is_below = self._below_words and not is_blank
        is_listed = any(isinstance(event, (ListedName, ListedRate)) for event in events)
        self._below_words = (
            "results" if is_below and (is_listed or self._below_words == "results") else ""
        )
        meant = [self._take(event) for event in events]
        self._above.see(text, events if any(meant) else None, self.lists)
        if any(meant):
            is_lost = _loses_number(text, events, hints)
            (self.missed if is_lost else self.state.understood).update(numbers)
            return
        self.missed.update(numbers)
        if not (events or (hints & NAME and hints & RATE and _names_cipher(text))):
            self.state.titles.see(self.state.line, text)
        self._not_understood(text)

    def _not_understood(self, text: str) -> None:
        """A line of another matter: what is measured below it may not be the cipher's any more.

        Until a cipher has a result, only a line about another tool or cipher takes it away, or any
        line where the cipher was one of a list.
        """
        if not _ONE_WORD.fullmatch(text):
            self.shell.listing = False
        block = self.state.block
        if changes_nothing(text) or block.names_file(text.strip()):
            return
        self.state.failed = True
        self._below_words = "words"
        if is_file_name(text):
            self.state.leave(None)
        if self.state.may_leave and not keeps_place(text):
            self.state.leave(None)
        block = self.state.block
        if block.is_empty and block.cipher is None and not block.foreign:
            block.foreign = names_other_tool(text)
        in_force = block.command.ssh and (block.cipher is not None or block.command.typed)
        if in_force and (
            not block.is_empty
            or block.listed > 1
            or names_other_tool(text)
            or _names_other_cipher(text, block.cipher)
        ):
            self.state.close()
            self.state.block.foreign = True
        self.state.end_series()
        self.state.words[self.state.changed] = Title(self.state.line, text)

    def _keeps(self, event: Event) -> bool:
        """Whether machine, settings and versions are known to be the same below as above."""
        if isinstance(event, Command):
            return self.shell.keeps(event)
        if isinstance(event, Facts):
            target = self.state.block.command.target_name
            return event.text in self.state.place.said or bool(target and target in event.text)
        if isinstance(event, Setting):
            return self.state.block.cipher is not None and self.state.block.is_empty
        if isinstance(event, TableTitles):
            return event.text == self._columns
        if isinstance(event, ListedTitle):
            return changes_nothing(event.text)
        if isinstance(event, Failure):  # else a session may have ended: of whichever machine
            block = self.state.block
            return block.cipher is not None or (block.command.ssh and block.command.typed)
        return isinstance(event, _RESULTS)

    def _take(self, event: Event) -> bool:
        """One event; False if it means nothing where it stands."""
        if isinstance(event, _OF_TRANSFERS) and self.state.is_quoted_elsewhere():
            self.state.leave(None)
        if isinstance(event, ListedRate):
            return self._rate(event)
        if not self._keeps(event):
            self.state.end_series()
        if isinstance(event, Command):
            self.shell.take(event)
        elif isinstance(event, ListedName):
            self._name(event)
        elif isinstance(event, ListedTitle):
            self.state.titles.see(self.state.line, event.text)
        elif isinstance(event, TableTitles):
            self._columns = event.text
        elif isinstance(event, Facts):
            self.state.learn(event)
        elif isinstance(event, Answer):
            self.state.move_to(event.host)
        elif isinstance(event, Setting):
            self._setting(event)
        elif isinstance(event, (DdSummary, TimeSpan, Records, Report)):
            return self._result(event)
        else:
            self._remark(event)
        return True

    def _result(self, event: DdSummary | TimeSpan | Records | Report) -> bool:
        block = self.state.block
        heading = self.state.titles.heading
        if block.cipher is None and heading and names_other_tool(heading.text):
            self.state.titles.forget()  # it was about this result
        if isinstance(event, Records):
            block.records = block.records or event.counts
        elif isinstance(event, DdSummary):
            block.add_summary(self.state.line, event)
        elif isinstance(event, Report):
            if not block.is_of(event):
                return False
            if event.received and block.agreed and block.downward:
                block.cipher = block.downward
            block.add_rate(self.state.line, event)
        elif event.kind == "real":
            block.clocks.append(Clock(self.state.line, event.seconds))
        self._bare_names = 0
        return True

    def _remark(self, event: Event) -> None:
        """What changes the meaning of the block it stands in."""
        block = self.state.block
        if isinstance(event, Failure):
            block.failed = self.state.failed = True
        elif isinstance(event, CutSummary):
            self.cut.append(self.state.line)
        elif isinstance(event, Transferred):
            block.moved = event.moved
        elif isinstance(event, SentPart):
            block.sent_part = True
        elif isinstance(event, Copying):
            self._copying(event)
        elif isinstance(event, Agreed):
            self._agreed(event)

    def _setting(self, setting: Setting) -> None:
        """Of the block below whose name it stands; else it is a heading of what follows."""
        block = self.state.block
        if block.cipher is None or not block.is_empty:
            self.state.titles.see(self.state.line, setting.text)
            return
        block.mac = setting.mac or block.mac
        if setting.compression is not None:
            block.compression = setting.compression

    def _copying(self, event: Copying) -> None:
        """A file of sftp: those sent and those fetched are no tries of one another."""
        base = self.state.base
        if event.direction == "resumed":
            base = replace(base, ssh=False, apart=True, problem="command_unclear")
        block = Block(self.state.line, base, self.state.block.cipher, self.state.block.mac)
        block.compression = self.state.block.compression
        block.command = replace(base, wording=f"{base.wording} {event.direction}")
        self.state.open(block)

    def _agreed(self, event: Agreed) -> None:
        """A new connection in a client's log; it is the command's unless that has its results."""
        if not self.state.block.is_empty:
            self.state.close()
        block = self.state.block
        block.compression |= event.compression
        block.mac = block.mac or event.mac
        if event.downward:
            block.downward = event.cipher
        elif block.cipher is None or block.agreed:
            block.cipher, block.agreed = event.cipher, True

    def _name(self, name: ListedName) -> None:
        if (self.shell.listing and name.bare) or self.state.block.goes_on_with(name.cipher):
            return
        self._bare_names = self._bare_names + 1 if name.bare else 0
        if self.state.block.cipher is not None and self.state.block.is_empty:
            self.state.failed = True
        self.state.use_title((name.cipher.name, name.mac))
        base = self.state.context(replace(self.state.base, says_amount=name.amount))
        block = Block(self.state.line, base, name.cipher, name.mac or base.mac)
        block.attempt = name.attempt
        block.compression = base.compression
        block.listed = self._bare_names
        block.titled = name.bare and self._above.titles_lines(self.lists)
        block.remark, block.below_failure = name.remark, self.state.failed
        self.state.named = block
        self.state.open(block)
        self.state.names += 1

    def _rate(self, rate: ListedRate) -> bool:
        self._bare_names = 0
        block = self.state.block
        if rate.problem and rate.cipher is None and (block.cipher or rate.table):
            self.state.found.append(Found(self.state.line, rate, self.state.base, self.state.place))
            return True
        if rate.cipher is None:
            is_complete = block.rates and block.rates[0][0] == block.line
            if rate.unit is None or block.failed or is_complete:
                return False
            kind: Kind = "mean" if rate.mean else "try"
            report = Report(rate.number, rate.unit, kind)
            if block.cipher is None:
                self.state.note_first(Block(self.state.line, self.state.base, rates=[(0, report)]))
                return False
            block.add_rate(self.state.line, report)
            return True
        if self.state.block.cipher is not None:
            self.state.close()
        self.state.use_title((rate.cipher.name, rate.mac))
        if self.shell.several is not None:
            if rate.cipher.name in self.shell.several:
                self.state.end_series()
            self.shell.several.add(rate.cipher.name)
        self.state.note_first(Block(self.state.line, self.state.base, rate.cipher))
        command = self.state.context(self.state.base)
        self.state.add(Found(self.state.line, rate, command, self.state.place, self.state.here))
        return True


def _loses_number(text: str, events: Sequence[Event], hints: int) -> bool:
    """Whether a line with a cipher's name has a rate that no event of it says."""
    names_only = all(
        isinstance(event, ListedName) or (isinstance(event, Command) and not event.typed)
        for event in events
    )
    return bool(hints & NAME and names_only and _NUMBER_OF_RATE.search(text))


def _names_cipher(text: str) -> bool:
    return any(token.cipher for token in tokens_of(text))


def _names_other_cipher(text: str, cipher: CipherName | None) -> bool:
    named = [token.cipher for token in tokens_of(text) if token.cipher]
    return any(one.unmistakable and cipher and one.name != cipher.name for one in named)
