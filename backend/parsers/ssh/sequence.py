"""The lines of an ssh text in turn: what the ones before make the next one mean."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from parsers.ssh.cipher_loops import ListReader
from parsers.ssh.commands.command import Command
from parsers.ssh.dd_lines import DdSummary
from parsers.ssh.environment import Facts, Place, contradicts, facts_of_title, merged, names_machine
from parsers.ssh.headings import (
    Title,
    changes_nothing,
    counts_tries,
    is_direction,
    is_file_name,
    is_of_other_matter,
    is_sentence,
    names_other_tool,
    names_setting,
    same_form,
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
from parsers.ssh.list_tokens import tokens_of
from parsers.ssh.listed import ListedName, ListedRate, ListedTitle, TableTitles
from parsers.ssh.names import CipherName
from parsers.ssh.time_blocks import TimeSpan
from parsers.ssh.titles import Titles, doubt_of_words, keeps_place
from parsers.ssh.transfer_reports import Copying, Kind, Report, SentPart, Transferred
from parsers.ssh.try_blocks import LISTING, Block, Clock
from parsers.ssh.units import UNIT
from parsers.ssh.untitled_columns import Above

NOTHING_SAID = Command(ssh=True, by_variable=True, names="before")
_RESULTS = (
    *(ListedName, DdSummary, TimeSpan, Records, Report, CutSummary),
    *(Transferred, SentPart, Copying, Agreed, Aside),
)
"""What a list or a transfer prints: it leaves machine, settings and versions as they were."""
_OF_TRANSFERS = (ListedRate, ListedName, DdSummary, TimeSpan, Report)
_UNCLEAR: dict[str, Any] = {"ssh": False, "apart": True, "problem": "columns_unclear"}
MOST_FOUND = 50_000
MOST_PLACES = 1_000
"""Machines, of which run documents hold 200."""

_STATES_RATE = re.compile(r"\d ?" + UNIT, re.I)
_NUMBER_OF_RATE = re.compile(r"\d ?" + UNIT + r"|(?<![\w.,-])\d+[.,]\d+(?![\w.,])", re.I)
_ONE_WORD = re.compile(r"\s*[\w@.-]{1,80}\s*")


class Found(NamedTuple):
    """A printed rate, or a block of measurements, with the place it belongs to."""

    line: int
    what: ListedRate | Block
    command: Command
    place: Place
    context: tuple[Any, ...] = ()
    """As of a block: results of a cipher in another context are no further tries of it."""

    @property
    def circumstances(self) -> tuple[Any, ...]:
        """What is the same for all tries of one series, as far as the text says."""
        return (*self.context, self.command.wording, self.command.amount)


@dataclass
class SshSequence:
    """Reads lines in turn; `found`, `places` and the rest hold what they said."""

    lists: ListReader
    depths: Mapping[int, int] = field(default_factory=dict)
    """How deep a line is quoted, for those that are."""
    gaps: frozenset[int] = frozenset()
    """Lines before which another parser understood some."""
    found: list[Found] = field(default_factory=list)
    places: list[Place] = field(default_factory=lambda: [Place(1)])
    understood: set[int] = field(default_factory=set)
    missed: set[int] = field(default_factory=set)
    """Lines that were not understood, or of which a piece was not."""
    cut: list[int] = field(default_factory=list)
    commands: list[tuple[int, Command]] = field(default_factory=list)
    mixed_from: float = float("inf")
    """The line from which on no result can be told from those of other jobs or settings."""
    _job: int | None = None
    """The line of a transfer left to run in the background."""
    _line: int = 1
    _base: Command = NOTHING_SAID
    _block: Block = field(default_factory=lambda: Block(1, NOTHING_SAID))
    _titles: Titles = field(default_factory=Titles)
    _first: Block | None = None
    """The first result since the last command that sends through ssh."""
    _named: Block | None = None
    """The last block since that command that begins with a name."""
    _failed: bool = False
    """Whether since that command a line may say, or a name show, that a transfer failed."""
    _found_before: int = 0
    """How many were found before that command."""
    _prints_name: bool = False
    """Whether a script printed a variable since the ssh command before."""
    _changed: int = 0
    """How many lines may have changed the machine, a setting or a version."""
    _ran: tuple[str, int] = ("", 0)
    """The last command that did more than look, and how many results were found before it."""
    _names: int = 0
    """How many names came after it."""
    _prompt: str = ""
    _program: str = ""
    """Which ssh the commands call, by its path and libraries."""
    _answers: bool = False
    """Whether what follows may be what the last command prints, of which no result is known."""
    _unsure: bool = False
    """Whether the last command may have changed the machine or a version."""
    _depth: int | None = None
    """How deep the lines are quoted that say what is known of the place."""
    _columns: str = ""
    """Titles of the last table, as they stand."""
    _facts_after: list[tuple[int, Facts]] = field(default_factory=list)
    """Facts below the results of a place, which may be those of the next."""
    _loops: frozenset[str] = frozenset()
    """Variables of the script's loops."""
    _varies: bool = False
    """Whether a loop changes more than the cipher."""
    _times_loop: bool = False
    """Whether the times below a typed command, or in a script, are those of a whole loop."""
    _sent: tuple[Command, int] = (NOTHING_SAID, 0)
    """The last command that sends, and how many lines had changed something before it."""
    _above: Above = field(default_factory=Above)
    _mask: Command = NOTHING_SAID
    """The command that set the mask in force."""
    _several: set[str] | None = None
    """Ciphers listed below a command that may list several machines; None below another."""
    _bare_names: int = 0
    _listing: bool = False
    _last_line: int = 0
    _words: dict[int, Title] = field(default_factory=dict)
    """By how many lines may have changed something: the last of them, if it was words."""
    _below_words: Literal["", "words", "results"] = ""
    """Whether the line before, or the results before it, stand right below a line of words."""
    _rows: set[str] = field(default_factory=set)
    """Titles of rows and columns that are machines."""

    def read(self, numbers: Sequence[int], text: str, hints: int) -> None:
        """One line (or a command of several)."""
        is_blank, self._line, self._last_line = (
            numbers[0] > self._last_line + 1,
            numbers[0],
            numbers[-1],
        )
        events = events_of(text, self.lists, hints)
        self._above.doubt(events, self.lists)
        if not self.gaps.isdisjoint(numbers) or (is_blank and self._below_words == "results"):
            self._end_series()
            if self._may_leave:
                self._leave(None)
        is_below = self._below_words and not is_blank
        is_listed = any(isinstance(event, (ListedName, ListedRate)) for event in events)
        self._below_words = (
            "results" if is_below and (is_listed or self._below_words == "results") else ""
        )
        meant = [self._take(event) for event in events]
        self._above.see(text, events if any(meant) else None, self.lists)
        if any(meant):
            (self.missed if _loses_number(text, events, hints) else self.understood).update(numbers)
            return
        self.missed.update(numbers)
        if not (events or (hints & NAME and hints & RATE and _names_cipher(text))):
            self._titles.see(self._line, text)
        self._not_understood(text)

    def _not_understood(self, text: str) -> None:
        """A line of another matter: what is measured below it may not be the cipher's any more.

        Until a cipher has a result, only a line about another tool or cipher takes it away, or any
        line where the cipher was one of a list.
        """
        if not _ONE_WORD.fullmatch(text):
            self._listing = False
        block = self._block
        if changes_nothing(text) or block.names_file(text.strip()):
            return
        self._failed = True
        self._below_words = "words"
        if is_file_name(text):
            self._leave(None)
        if self._may_leave and not keeps_place(text):
            self._leave(None)
        block = self._block
        if block.is_empty and block.cipher is None and not block.foreign:
            block.foreign = names_other_tool(text)
        in_force = block.command.ssh and (block.cipher is not None or block.command.typed)
        if in_force and (
            not block.is_empty
            or block.listed > 1
            or names_other_tool(text)
            or _names_other_cipher(text, block.cipher)
        ):
            self._close()
            self._block.foreign = True
        self._end_series()
        self._words[self._changed] = Title(self._line, text)

    def is_doubted(self, one: Found) -> bool:
        """Whether words that may say anything stand above a result that comes again elsewhere."""
        words = self._words.get(one.context[0]) if one.context else None
        return words is not None and doubt_of_words(words) != ""

    @property
    def _may_leave(self) -> bool:
        """Whether a line of another matter ends the place: not if the command may print it."""
        return self._is_measured and not (self._answers and self._block.is_empty)

    def _leave(self, host: str | None, title: Title | None = None) -> None:
        """What is measured from here on is of `host`, or of a machine that is not known.

        What was known of versions is of before.
        """
        if not self._block.is_empty:
            self._close()
        place = self._place
        if not place.measured:
            place.forget(host)
        elif host or title or place.is_named:
            self._name_by_heading()
            for _, facts in self._facts_after:
                place.learn(facts)
            self._facts_after.clear()
            self.places.append(place.left(self._line, host))
        if title and host is None:
            self._place.label = title.label

    def _end_series(self) -> None:
        """What is measured from here on is no further try of anything above."""
        self._changed += 1
        if not self._block.is_empty:
            self._close()
        self._block.context = self._here

    def _keeps(self, event: Event) -> bool:
        """Whether machine, settings and versions are known to be the same below as above."""
        if isinstance(event, Command):
            return self._keeps_on(event)
        if isinstance(event, Facts):
            target = self._block.command.target_name
            return event.text in self._place.said or bool(target and target in event.text)
        if isinstance(event, Setting):
            return self._block.cipher is not None and self._block.is_empty
        if isinstance(event, TableTitles):
            return event.text == self._columns
        if isinstance(event, ListedTitle):
            return changes_nothing(event.text)
        if isinstance(event, Failure):  # else a session may have ended: of whichever machine
            block = self._block
            return block.cipher is not None or (block.command.ssh and block.command.typed)
        return isinstance(event, _RESULTS)

    def _keeps_on(self, command: Command) -> bool:
        """A transfer, the same command once more, or one that only looks, at the same prompt."""
        if command.typed and not command.traced:
            unnamed = "$" if self._is_measured else command.prompt
            if command.prompt != (self._prompt or unnamed):
                return False
        if command.ssh:
            return not command.login
        if command.keeps or command.sets_mask:
            return True
        wording, found = self._ran
        is_output = len(self.found) > found or not self._block.is_empty
        return command.typed and command.wording == wording and is_output

    @property
    def is_full(self) -> bool:
        """Whether no text of measurements has so many: what follows would only cost time."""
        return len(self.found) >= MOST_FOUND or len(self.places) + len(self._rows) >= MOST_PLACES

    def end(self) -> None:
        """The last block is over."""
        self._end_results()
        for _, facts in self._facts_after:
            self._place.learn(facts)

    def _take(self, event: Event) -> bool:
        """One event; False if it means nothing where it stands."""
        if isinstance(event, _OF_TRANSFERS) and self._is_quoted_elsewhere:
            self._leave(None)
        if isinstance(event, ListedRate):
            return self._rate(event)
        if not self._keeps(event):
            self._end_series()
        if isinstance(event, Command):
            self._command(event)
        elif isinstance(event, ListedName):
            self._name(event)
        elif isinstance(event, ListedTitle):
            self._titles.see(self._line, event.text)
        elif isinstance(event, TableTitles):
            self._columns = event.text
        elif isinstance(event, Facts):
            self._facts(event)
        elif isinstance(event, Answer):
            self._at(event.host)
        elif isinstance(event, Setting):
            self._setting(event)
        elif isinstance(event, (DdSummary, TimeSpan, Records, Report)):
            return self._result(event)
        else:
            self._remark(event)
        return True

    def _result(self, event: DdSummary | TimeSpan | Records | Report) -> bool:
        block = self._block
        heading = self._titles.heading
        if block.cipher is None and heading and names_other_tool(heading.text):
            self._titles.forget()  # it was about this result
        if isinstance(event, Records):
            block.records = block.records or event.counts
        elif isinstance(event, DdSummary):
            block.add_summary(self._line, event)
        elif isinstance(event, Report):
            if not block.is_of(event):
                return False
            if event.received and block.agreed and block.downward:
                block.cipher = block.downward
            block.add_rate(self._line, event)
        elif event.kind == "real":
            block.clocks.append(Clock(self._line, event.seconds))
        self._bare_names = 0
        return True

    def _remark(self, event: Event) -> None:
        """What changes the meaning of the block it stands in."""
        block = self._block
        if isinstance(event, Failure):
            block.failed = self._failed = True
        elif isinstance(event, CutSummary):
            self.cut.append(self._line)
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
        block = self._block
        if block.cipher is None or not block.is_empty:
            self._titles.see(self._line, setting.text)
            return
        block.mac = setting.mac or block.mac
        if setting.compression is not None:
            block.compression = setting.compression

    def _copying(self, event: Copying) -> None:
        """A file of sftp: those sent and those fetched are no tries of one another."""
        base = self._base
        if event.direction == "resumed":
            base = replace(base, ssh=False, apart=True, problem="command_unclear")
        block = Block(self._line, base, self._block.cipher, self._block.mac)
        block.compression = self._block.compression
        block.command = replace(base, wording=f"{base.wording} {event.direction}")
        self._open(block)

    def _agreed(self, event: Agreed) -> None:
        """A new connection in a client's log; it is the command's unless that has its results."""
        if not self._block.is_empty:
            self._close()
        block = self._block
        block.compression |= event.compression
        block.mac = block.mac or event.mac
        if event.downward:
            block.downward = event.cipher
        elif block.cipher is None or block.agreed:
            block.cipher, block.agreed = event.cipher, True

    def _facts(self, event: Facts) -> None:
        if event.node and self._place.host not in (None, event.node):
            self._new_place(self._place.label, self._line)
        elif self._is_measured and contradicts(self._place.environment, event.environment):
            first = self._facts_after[0][0] if self._facts_after else self._line
            host = self._place.host
            self._new_place(None, first)
            self._place.host = None if "cpu" in event.environment else host
        self._depth = self.depths.get(self._line, 0)
        if self._place.measured:
            self._facts_after.append((self._line, event))
        else:
            self._place.learn(event)

    @property
    def _is_quoted_elsewhere(self) -> bool:
        """Whether somebody else wrote a line than the one that names the machine."""
        depth, self._depth = self._depth, self.depths.get(self._line, 0)
        return depth not in (None, self._depth)

    @property
    def _place(self) -> Place:
        return self.places[-1]

    @property
    def _is_measured(self) -> bool:
        return self._place.measured or not self._block.is_empty

    def _new_place(self, label: str | None, line: int) -> None:
        """Another machine or configuration, whose facts stand from a line on.

        One of which nothing is known yet takes its label.
        """
        self._close()
        before = self._place
        if before.measured:
            self._name_by_heading()
            self.places.append(Place(self._line, label=label))
            for number, facts in self._facts_after:
                (before if number < line else self._place).learn(facts)
            self._facts_after.clear()
        else:
            self._place.label, self._place.known_as = label, None

    def _name_by_heading(self) -> None:
        """The heading above the place tells it from another one."""
        heading = self._place.heading
        if heading and not self._place.label:
            self._place.label = None if is_sentence(heading.text) else heading.label
            self.understood.add(heading.line)

    def _at(self, host: str) -> None:
        """What follows is of the machine of that name."""
        if host != self._place.host:
            if self._place.first.host == host:
                self._leave(host)
            elif self._place.host is not None or self._is_measured:
                self._new_place(None, self._line)
            self._place.named(host)

    def _command(self, command: Command) -> None:
        self.commands.append((self._line, command))
        is_typed = command.typed and not command.traced
        if is_typed and not self._is_same_place(command):
            self._leave(command.host)
        if command.host:
            self._at(command.host)
        if is_typed:
            self._prompt, self._loops, self._varies = command.prompt, frozenset(), False
            self._times_loop = False
            self._depth = self.depths.get(self._line, 0)
        self._loops |= command.loops
        if command.varies & self._loops:
            self._varies = True
        self._times_loop |= command.times_loop
        if self._times_loop:
            command = replace(command, times_loop=True)
        if command.ssh and self._varies:
            command = replace(command, **_UNCLEAR, far_end=True)
        if command.typed:
            self._several = set() if command.several else None
        if command.typed or command.lists_ciphers:
            self._listing = command.lists_ciphers
        if command.sets_mask:
            self._close()
        if command.sets_mask or not (command.ssh or command.keeps or self._mask.sets_mask):
            self._mask = NOTHING_SAID if command.wording.startswith("unset") else command
        if command.changes_ssh:
            self.mixed_from = min(self.mixed_from, self._line)
        if command.ssh:
            self._transfer(command)
        else:
            self._elsewhere(command)
        if not command.keeps:
            self._ran, self._names = (command.wording, len(self.found)), 0
        is_idle = command.keeps or command.sets_mask
        if is_typed:
            self._answers, self._unsure = not is_idle, not (is_idle or command.ssh)
        if command.login or command.elsewhere:
            self._leave(None)

    def _is_same_place(self, command: Command) -> bool:
        """Whether a command is typed where the one before it was, which changed nothing."""
        is_other = command.program not in (None, self._program)
        self._program = command.program or ("" if is_other else self._program)
        if command.host and command.host != self._place.host:
            return True  # `_at` sees to it
        is_moved = self._prompt and command.prompt != self._prompt and command.host is None
        return not (is_moved or is_other or (self._unsure and command.wording != self._ran[0]))

    def _elsewhere(self, command: Command) -> None:
        """A command that sends nothing through ssh; in a script it may prepare what is sent."""
        if command.waits:
            self._job = None
            return
        if command.names and self._base.names:
            self._prints_name = True
        elif command.names and self._block.is_empty and len(self.found) == self._found_before:
            self._base = replace(self._base, names="after")
        is_typed = command.typed and not command.traced
        if command.far_end and (command.by_variable or command.problem):
            self._base = command
        elif is_typed and names_other_tool(command.wording) and not command.keeps:
            self._base = replace(NOTHING_SAID, problem="command_unclear")
        elif is_typed and self._base.problem:
            self._base = NOTHING_SAID
        elif command.amount is not None and not command.typed:
            self._base = replace(self._base, amount=command.amount)
        if is_typed or command.apart or command.lists_ciphers:
            self._open(Block(self._line, command))
        elif command.amount is not None and self._block.is_empty:
            self._block.command = replace(self._block.command, amount=command.amount)

    def _transfer(self, command: Command) -> None:
        """A command that sends through ssh; a heading right before it may name the cipher."""
        if self._job is not None and not command.traced:
            self.mixed_from = min(self.mixed_from, self._job)
        self._job = self._line if command.job else None
        self._listing = False
        earlier = self._block
        sent, changed = self._sent
        self._sent = command, self._changed
        # Of a script: the results of several commands that it lists stand below the last.
        is_listed = sent.wording != "" and not (sent.typed or command.typed)
        is_same = (sent.wording, sent.cipher, changed) == (
            command.wording,
            command.cipher,
            self._changed,
        )
        is_unanswered = earlier.is_empty and len(self.found) == self._found_before
        self._end_results()
        if self._prints_name and not command.names:
            command = replace(command, names="before")
        self._prints_name = False
        pending = earlier.is_empty and earlier.cipher is not None
        # A cipher that is not known took the place of the one that the command before named.
        unknown = command.unclear and command.cipher is None and earlier.command.cipher is not None
        same = not unknown and command.cipher in (None, earlier.cipher)
        if command.amount is None and (pending or not command.typed or command.traced):
            command = replace(command, amount=self._base.amount)
        self._base = command
        if command.cipher:
            self._use_title_above(command)
        command = self._context(command)
        block = Block(self._line, command, command.cipher, command.mac)
        block.foreign = unknown
        block.compression = command.compression
        if pending and same:
            block.cipher, block.attempt = earlier.cipher, earlier.attempt
            block.mac = block.mac or earlier.mac
            block.compression |= earlier.compression
        if is_listed and is_unanswered and not is_same:
            block.command = replace(command, **_UNCLEAR)
        self._open(block)

    def _end_results(self) -> None:
        """The results of one command, none of them certain if the names may stand below them.

        So they may if the command says so, or if a result comes first and a name last.
        """
        last = self._block
        self._close()
        first, base = self._first, self._base
        is_apart = first is None or first.is_elsewhere or first.foreign
        result_first = first is not None and first.cipher is None and not is_apart
        name_last = first is not None and last.cipher is not None and last.lacks(first)
        blocks = [
            one.what for one in self.found[self._found_before :] if isinstance(one.what, Block)
        ]
        # A name last may be that of the result above; without it the end may be cut off.
        is_named = name_last or (not base.wording and any(one.cipher for one in blocks))
        unclear = base.by_variable and result_first and is_named
        # If a transfer above a name without a result failed, the first name may be of that one.
        if (named := self._named) and named.is_empty and not (named.failed or base.wording):
            unclear |= named.below_failure
        if base.names == "after" or unclear:
            last.cipher = None
            for block in blocks:
                block.unordered = True
        self._first, self._found_before, self._failed = None, len(self.found), False
        self._named = None

    def _name(self, name: ListedName) -> None:
        if (self._listing and name.bare) or self._block.goes_on_with(name.cipher):
            return
        self._bare_names = self._bare_names + 1 if name.bare else 0
        if self._block.cipher is not None and self._block.is_empty:
            self._failed = True
        self._use_title((name.cipher.name, name.mac))
        base = self._context(replace(self._base, says_amount=name.amount))
        block = Block(self._line, base, name.cipher, name.mac or base.mac)
        block.attempt = name.attempt
        block.compression = base.compression
        block.listed = self._bare_names
        block.titled = name.bare and self._above.titles_lines(self.lists)
        block.remark, block.below_failure = name.remark, self._failed
        self._named = block
        self._open(block)
        self._names += 1

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
        if self._several is not None:
            if rate.cipher.name in self._several:
                self._end_series()
            self._several.add(rate.cipher.name)
        self._first = self._first or Block(self._line, self._base, rate.cipher)
        command = self._context(self._base)
        self._found(Found(self._line, rate, command, self._place, self._here))
        return True

    def _found(self, one: Found) -> None:
        if isinstance(one.what, ListedRate) and one.what.column:
            self._rows.add(one.what.column)
        self.found.append(one)
        if not one.place.measured:
            one.place.measured, one.place.words = True, self._words.get(self._changed)
        self._answers = False
        self._facts_after.clear()

    def _open(self, block: Block) -> None:
        self._close()
        block.command, block.context = self._context(block.command), self._here
        self._block = block

    def _close(self) -> None:
        block = self._block
        is_listing = block.listed >= LISTING and not self.found
        is_of_all = block.is_timed and self._names > 1 and len(self.found) == self._ran[1]
        if is_listing or 2 <= block.listed <= block.results or is_of_all:
            block.cipher, block.foreign = None, True
        if block.titled and block.bare_rates > 1:
            block.command = replace(block.command, **_UNCLEAR)
        if not block.is_empty:
            self._first = self._first or block
            self._found(Found(block.line, block, block.command, self._place, block.context))
        self._block = Block(self._line, self._context(self._base), context=self._here)

    @property
    def _here(self) -> tuple[int, int, str]:
        mask = self._mask.wording if self._mask.masks else ""
        return self._changed, self.depths.get(self._line, 0), mask

    def _context(self, command: Command) -> Command:
        """The command, under the heading above and the mask that the shell was told to export."""
        command = self._titles.over(command)
        if self._titles.amount and not command.says_amount:
            command = replace(command, says_amount=self._titles.amount)
        if command.masks or self._mask.masks in (None, "default"):
            return command
        return replace(command, masks=self._mask.masks)

    def _use_title(self, first: tuple[str, str | None]) -> None:
        """The figures after a heading are another machine's if it names one, or if they repeat."""
        title = self._titles.taken()
        if title is None:
            self._place.seen.add(self._key(first))
            return
        doubt = self._titles.doubt_of(title)
        self._titles.learn(title)
        repeats = self._key(first) in self._place.seen
        is_try = counts_tries(title.text)
        is_used = is_try or names_setting(title.text)
        is_new = names_machine(title.text) or bool(self._place.doubt or doubt)
        is_like = same_form(self._place.title, title.text) and not is_used
        is_named = not is_direction(title.text) and not is_sentence(title.text)
        is_new |= is_named and (is_like or (repeats and not title.is_bare))
        if not is_try and is_new:
            is_used = True
            before = self._place
            self._new_place(title.label, title.line)
            words = before.heading or before.words
            if self._place is not before and words and not (before.doubt or before.host or is_like):
                before.doubt = doubt_of_words(words)
            self._place.doubt = doubt or ("" if is_like else doubt_of_words(title))
            if self._place is not before and not names_machine(title.text):
                self._place.after = before
            facts = facts_of_title(title.text)
            self._place.environment = merged(self._place.environment, facts)
        elif not (is_used or self._place.measured):
            self._place.heading = title
        if is_new or not self._place.title:
            self._place.title = title.text
        if is_used and not _STATES_RATE.search(title.text):
            self.understood.add(title.line)
        self._place.seen.add(self._key(first))

    def _use_title_above(self, command: Command) -> None:
        """A heading above a command that sends: its settings, and whether it may leave the place.

        The machine stays the one that the prompt names.
        """
        title = self._titles.taken() if self._titles.is_there else None
        if title is None:
            return
        is_other = is_of_other_matter(title.text) and not names_other_tool(title.text)
        doubt = "not_a_rate" if is_other else self._titles.doubt_of_settings(title)
        self._titles.learn(title)
        is_new = not keeps_place(title.text) and (names_machine(title.text) or self._is_measured)
        if is_new or doubt or self._place.doubt:
            self._leave(command.host, title)
            self._place.doubt = doubt
        if names_setting(title.text):
            self.understood.add(title.line)

    def _key(self, first: tuple[str, str | None]) -> tuple[Any, ...]:
        """What makes a cipher's figures tries of one series."""
        base = self._titles.over(self._base)
        return (*first, base.masks, base.compression, base.mac)


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
