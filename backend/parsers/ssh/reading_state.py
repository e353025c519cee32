"""What the lines so far of an ssh text said: results, and what holds for the next one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from parsers.ssh.commands.command import Command
from parsers.ssh.headings import (
    Title,
    counts_tries,
    is_direction,
    is_of_other_matter,
    is_sentence,
    names_other_tool,
    names_setting,
    same_form,
)
from parsers.ssh.lists.listed import ListedRate
from parsers.ssh.machine_facts import (
    Facts,
    Place,
    contradicts,
    facts_of_title,
    merged,
    names_machine,
)
from parsers.ssh.titles import Titles, doubt_of_words, keeps_place
from parsers.ssh.try_blocks import LISTING, Block
from parsers.ssh.units import UNIT

NOTHING_SAID = Command(ssh=True, by_variable=True, names="before")
UNCLEAR: dict[str, Any] = {"ssh": False, "apart": True, "problem": "columns_unclear"}
MOST_FOUND = 50_000
MOST_PLACES = 1_000
"""Machines, of which run documents hold 200."""

_STATES_RATE = re.compile(r"\d ?" + UNIT, re.I)


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
class ReadingState:
    """What was measured, and of which machine, heading and command the next result is."""

    depths: Mapping[int, int] = field(default_factory=dict)
    """How deep a line is quoted, for those that are."""
    found: list[Found] = field(default_factory=list)
    places: list[Place] = field(default_factory=lambda: [Place(1)])
    understood: set[int] = field(default_factory=set)
    line: int = 1
    base: Command = NOTHING_SAID
    """The last command that sends."""
    block: Block = field(default_factory=lambda: Block(1, NOTHING_SAID))
    titles: Titles = field(default_factory=Titles)
    _first: Block | None = None
    """The first result since the last command that sends through ssh."""
    named: Block | None = None
    """The last block since that command that begins with a name."""
    failed: bool = False
    """Whether since that command a line may say, or a name show, that a transfer failed."""
    _found_before: int = 0
    """How many were found before that command."""
    changed: int = 0
    """How many lines may have changed the machine, a setting or a version."""
    _ran_at: int = 0
    """How many results were found before the last command that did more than look."""
    names: int = 0
    """How many names came after it."""
    _depth: int | None = None
    """How deep the lines are quoted that say what is known of the place."""
    _facts_after: list[tuple[int, Facts]] = field(default_factory=list)
    """Facts below the results of a place, which may be those of the next."""
    answers: bool = False
    """Whether what follows may be what the last command prints, of which no result is known."""
    mask: Command = NOTHING_SAID
    """The command that set the mask in force."""
    words: dict[int, Title] = field(default_factory=dict)
    """By how many lines may have changed something: the last of them, if it was words."""
    _rows: set[str] = field(default_factory=set)
    """Titles of rows and columns that are machines."""

    def is_doubted(self, one: Found) -> bool:
        """Whether words that may say anything stand above a result that comes again elsewhere."""
        words = self.words.get(one.context[0]) if one.context else None
        return words is not None and doubt_of_words(words) != ""

    @property
    def is_full(self) -> bool:
        """Whether no text of measurements has so many: what follows would only cost time."""
        return len(self.found) >= MOST_FOUND or len(self.places) + len(self._rows) >= MOST_PLACES

    @property
    def place(self) -> Place:
        """The machine, in its environment, that the next result is of."""
        return self.places[-1]

    @property
    def is_measured(self) -> bool:
        """Whether the place has a result."""
        return self.place.measured or not self.block.is_empty

    @property
    def may_leave(self) -> bool:
        """Whether a line of another matter ends the place: not if the command may print it."""
        return self.is_measured and not (self.answers and self.block.is_empty)

    def leave(self, host: str | None, title: Title | None = None) -> None:
        """What is measured from here on is of `host`, or of a machine that is not known.

        What was known of versions is of before.
        """
        if not self.block.is_empty:
            self.close()
        place = self.place
        if not place.measured:
            place.forget(host)
        elif host or title or place.is_named:
            self._name_by_heading()
            for _, facts in self._facts_after:
                place.learn(facts)
            self._facts_after.clear()
            self.places.append(place.left(self.line, host))
        if title and host is None:
            self.place.label = title.label

    def end_series(self) -> None:
        """What is measured from here on is no further try of anything above."""
        self.changed += 1
        if not self.block.is_empty:
            self.close()
        self.block.context = self.here

    def new_place(self, label: str | None, line: int) -> None:
        """Another machine or configuration, whose facts stand from a line on.

        One of which nothing is known yet takes its label.
        """
        self.close()
        before = self.place
        if before.measured:
            self._name_by_heading()
            self.places.append(Place(self.line, label=label))
            for number, facts in self._facts_after:
                (before if number < line else self.place).learn(facts)
            self._facts_after.clear()
        else:
            self.place.label, self.place.known_as = label, None

    def _name_by_heading(self) -> None:
        """The heading above the place tells it from another one."""
        heading = self.place.heading
        if heading and not self.place.label:
            self.place.label = None if is_sentence(heading.text) else heading.label
            self.understood.add(heading.line)

    def learn(self, event: Facts) -> None:
        """Facts of the place, unless they contradict what is known of it: then of the next."""
        if event.node and self.place.host not in (None, event.node):
            self.new_place(self.place.label, self.line)
        elif self.is_measured and contradicts(self.place.environment, event.environment):
            first = self._facts_after[0][0] if self._facts_after else self.line
            host = self.place.host
            self.new_place(None, first)
            self.place.host = None if "cpu" in event.environment else host
        self.keep_depth()
        if self.place.measured:
            self._facts_after.append((self.line, event))
        else:
            self.place.learn(event)

    def is_quoted_elsewhere(self) -> bool:
        """Whether somebody else wrote a line than the one that names the machine."""
        depth = self._depth
        self.keep_depth()
        return depth not in (None, self._depth)

    def keep_depth(self) -> None:
        """Somebody who is quoted as deep as this line wrote of the place."""
        self._depth = self.depths.get(self.line, 0)

    def move_to(self, host: str) -> None:
        """What follows is of the machine of that name."""
        if host != self.place.host:
            if self.place.first.host == host:
                self.leave(host)
            elif self.place.host is not None or self.is_measured:
                self.new_place(None, self.line)
            self.place.named(host)

    @property
    def is_unanswered(self) -> bool:
        """Whether nothing was measured since the last command that sends through ssh."""
        return self.block.is_empty and len(self.found) == self._found_before

    @property
    def has_output(self) -> bool:
        """Whether anything was measured since the last command that did more than look."""
        return len(self.found) > self._ran_at or not self.block.is_empty

    def ran(self) -> None:
        """A command did more than look."""
        self._ran_at, self.names = len(self.found), 0

    def note_first(self, block: Block) -> None:
        """A result, the first one if there was none since the last command that sends."""
        self._first = self._first or block

    def end(self) -> None:
        """The last block is over."""
        self.end_results()
        for _, facts in self._facts_after:
            self.place.learn(facts)

    def end_results(self) -> None:
        """The results of one command, none of them certain if the names may stand below them.

        So they may if the command says so, or if a result comes first and a name last.
        """
        last = self.block
        self.close()
        first, base = self._first, self.base
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
        if (named := self.named) and named.is_empty and not (named.failed or base.wording):
            unclear |= named.below_failure
        if base.names == "after" or unclear:
            last.cipher = None
            for block in blocks:
                block.unordered = True
        self._first, self._found_before, self.failed = None, len(self.found), False
        self.named = None

    def add(self, one: Found) -> None:
        """A result."""
        if isinstance(one.what, ListedRate) and one.what.column:
            self._rows.add(one.what.column)
        self.found.append(one)
        if not one.place.measured:
            one.place.measured, one.place.words = True, self.words.get(self.changed)
        self.answers = False
        self._facts_after.clear()

    def open(self, block: Block) -> None:
        """What is measured from here on is of a block."""
        self.close()
        block.command, block.context = self.context(block.command), self.here
        self.block = block

    def close(self) -> None:
        """What is measured from here on is not of the block above."""
        block = self.block
        is_listing = block.listed >= LISTING and not self.found
        is_of_all = block.is_timed and self.names > 1 and len(self.found) == self._ran_at
        if is_listing or 2 <= block.listed <= block.results or is_of_all:
            block.cipher, block.foreign = None, True
        if block.titled and block.bare_rates > 1:
            block.command = replace(block.command, **UNCLEAR)
        if not block.is_empty:
            self.note_first(block)
            self.add(Found(block.line, block, block.command, self.place, block.context))
        self.block = Block(self.line, self.context(self.base), context=self.here)

    @property
    def here(self) -> tuple[int, int, str]:
        """The context of a block that begins at this line."""
        mask = self.mask.wording if self.mask.masks else ""
        return self.changed, self.depths.get(self.line, 0), mask

    def context(self, command: Command) -> Command:
        """The command, under the heading above and the mask that the shell was told to export."""
        command = self.titles.over(command)
        if self.titles.amount and not command.says_amount:
            command = replace(command, says_amount=self.titles.amount)
        if command.masks or self.mask.masks in (None, "default"):
            return command
        return replace(command, masks=self.mask.masks)

    def use_title(self, first: tuple[str, str | None]) -> None:
        """The figures after a heading are another machine's if it names one, or if they repeat."""
        title = self.titles.taken()
        if title is None:
            self.place.seen.add(self._key(first))
            return
        doubt = self.titles.doubt_of(title)
        self.titles.learn(title)
        repeats = self._key(first) in self.place.seen
        is_try = counts_tries(title.text)
        is_used = is_try or names_setting(title.text)
        is_new = names_machine(title.text) or bool(self.place.doubt or doubt)
        is_like = same_form(self.place.title, title.text) and not is_used
        is_named = not is_direction(title.text) and not is_sentence(title.text)
        is_new |= is_named and (is_like or (repeats and not title.is_bare))
        if not is_try and is_new:
            is_used = True
            before = self.place
            self.new_place(title.label, title.line)
            words = before.heading or before.words
            if self.place is not before and words and not (before.doubt or before.host or is_like):
                before.doubt = doubt_of_words(words)
            self.place.doubt = doubt or ("" if is_like else doubt_of_words(title))
            if self.place is not before and not names_machine(title.text):
                self.place.after = before
            facts = facts_of_title(title.text)
            self.place.environment = merged(self.place.environment, facts)
        elif not (is_used or self.place.measured):
            self.place.heading = title
        if is_new or not self.place.title:
            self.place.title = title.text
        if is_used and not _STATES_RATE.search(title.text):
            self.understood.add(title.line)
        self.place.seen.add(self._key(first))

    def use_title_above(self, command: Command) -> None:
        """A heading above a command that sends: its settings, and whether it may leave the place.

        The machine stays the one that the prompt names.
        """
        title = self.titles.taken() if self.titles.is_there else None
        if title is None:
            return
        is_other = is_of_other_matter(title.text) and not names_other_tool(title.text)
        doubt = "not_a_rate" if is_other else self.titles.doubt_of_settings(title)
        self.titles.learn(title)
        is_new = not keeps_place(title.text) and (names_machine(title.text) or self.is_measured)
        if is_new or doubt or self.place.doubt:
            self.leave(command.host, title)
            self.place.doubt = doubt
        if names_setting(title.text):
            self.understood.add(title.line)

    def _key(self, first: tuple[str, str | None]) -> tuple[Any, ...]:
        """What makes a cipher's figures tries of one series."""
        base = self.titles.over(self.base)
        return (*first, base.masks, base.compression, base.mac)
