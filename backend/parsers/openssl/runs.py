"""The runs of `openssl speed` in a text: what each was called with, said and measured."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from parsers.openssl import environment
from parsers.openssl.cipher_names import canonical_cipher, kind_of
from parsers.openssl.commands import CALLS_LIMIT, Command, command_for, read_commands
from parsers.openssl.doing import Count, PairedResults, is_block_count, is_doing, read_doing
from parsers.openssl.headings import Told, told_in
from parsers.openssl.lines import Printed
from parsers.openssl.machine import MachineLine, read_machine_line
from parsers.openssl.tables import (
    UNREADABLE,
    Header,
    Row,
    read_header,
    read_row,
    speaks_of_sizes,
)
from parsers.ssh.commands.command_lines import command_of
from parsers.ssh.headings import may_be_talk
from parsers.types import Remark

_KEYS = re.compile(
    r"(?:(?:rsa|dsa|dh|ffdh)? *\d{2,6} bits? |(?:rsa|dsa|ffdh) +\d{2,6}|sign +verify|op +op/s"
    r"|keygens?\b|encaps?\b)"
)
_KEY_TIME = re.compile(r"\d\.\d{4,8}s(?!\w)")
_SHELL_TIMES = re.compile(r"\s*(?:real|user|sys)\s+(?:\d+m)?\d+[.,]\d+s?")
_GNU_TIME = re.compile(r"\s*Command being timed: .*openssl")
_RULE = re.compile(r"[\s|:+=-]*")
_TRY = re.compile(
    r"\W*(?:(?:run|try|pass|attempt|iteration|round)\W{0,3}\d{1,4}(?: ?(?:of|/) ?\d{1,4})?"
    r"|(?:first|second|third|fourth|fifth|next|another|one more|\d{1,3}(?:st|nd|rd|th)) "
    r"(?:run|try|pass|attempt|iteration|round)|(?:and )?(?:once )?(?:again|more))\W*",
    re.I,
)
"""A heading that only counts tries."""
_DD = re.compile(r"\d+ (?:bytes|octets)\b|\d+\+\d+ records\b", re.I)
"""What dd says, cut perhaps: it is no heading."""
_FOOTNOTE = re.compile(r"[\[(]?\s*[\d*†‡§¹²³^]{1,3}\s*[\])]?")
"""Behind a row."""
_VERSION_ASKED = re.compile(r" version\b.*")
PLAIN = "openssl"
"""The program whose version a text states that does not say of which."""
TABLE_COLUMNS = 5
"""Columns of the narrowest table that the tool prints unless it is told otherwise."""
GNU_TIME_LINES = 23
"""Lines of a GNU `time -v` report."""
MOST_ROWS = 20_000
_TOO_MANY = f"more than {MOST_ROWS:,} rows of tables: those from here are not read"


class PrintedRow(NamedTuple):
    """A row of a table or of `-mr`, and the header over it."""

    line: int
    row: Row
    header: Header | None
    side: int | None = None
    """Of a row that stands beside others on its line: its place among them, from 0."""
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
    mask: str | None = None
    said_masked: bool = False
    """Whether a heading says that AES was off."""
    remarked_masked: bool = False
    """Whether a remark beside its command does."""
    told: Told = ""
    """What a heading says of how it was measured."""
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
            self.host = self.command.host
            self.elapsed |= self.command.elapsed
            self.mask = self.command.mask or self.standing_mask

    def _may_be_of(self, command: Command) -> bool:
        """Whether what it says of its processes and its mask is true of a command."""
        if (self.counts and command.multi) or (self.child_line and not command.multi):
            return False
        settings = self.facts.get("cpu_settings", "")
        told = environment.mask_in_settings(settings)
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


class RunReader:
    """Takes in printed lines one by one; afterwards `runs` and `understood` are complete."""

    def __init__(self, *, has_output: bool) -> None:
        """`has_output`: whether the text may have figures, so that commands between them matter."""
        self._has_output = has_output
        self.runs: list[Run] = []
        self.understood: set[int] = set()
        self.remarks: list[Remark] = []
        self.listed: set[int] = set()
        """Lines that were read, but have something in them that was not understood."""
        self.missed: set[int] = set()
        """Lines of which at least a piece was not understood."""
        self.masks_set: set[int] = set()
        """Lines that set or end a mask for the commands below them, of any program."""
        self.not_ciphers: list[tuple[int, str]] = []
        self._header: Header | None = None
        self._header_run: Run | None = None
        self._foreign = False
        self._heading: str | None = None
        self._under: str | None = None
        self._after_blank = False
        self._told: Told = ""
        self._origin = self._facts_of = PLAIN
        self._said_masked = self._may_be_talk = False
        self._standing_mask: str | None = None
        self._time_report = 0
        self._rows_read = 0

    def read(self, lines: Iterable[Printed]) -> None:
        """Take in all lines of a text."""
        blank = True
        for line in lines:
            if not line.text:
                blank = True
                continue
            if self._rows_read >= MOST_ROWS:
                self.remarks.append(Remark(line.line, "too_many", _TOO_MANY))
                break
            if self._explain(line):
                self.understood.update(line.numbers)
            else:
                self._other(line, blank)
                self.missed.update(line.numbers)
            blank = False

    def _explain(self, line: Printed) -> bool:
        """Whether a line was understood; what most lines of a long text are is tried first."""
        text = line.text
        start = text.lstrip()
        if (self._time_report or "being timed" in text) and self._gnu_time(line):
            return True
        if start.startswith("Doing "):
            return self._doing(line)
        if start[0] in "+GF" and self._machine(line):
            return True
        if start[-1] == "k" and self._table_row(line):
            return True
        if " bits " in text and self._keys(line):
            return True
        if ("SSL" in text or "ssl" in text) and self._call(line):
            return True
        return (
            self._table_header(line)
            or self._fact(line)
            or self._keys(line)
            or self._table_row(line)
            or self._surroundings(line)
        )

    def _run(self, line: Printed, fresh: bool = False) -> Run:
        """The run that a line belongs to; a new one where the last has come to its results."""
        last = self.runs[-1] if self.runs else None
        if last is None or fresh or last.has_results or self._is_apart(last):
            return self._start(line.line)
        self._heading = None
        return last

    def _row_run(self, line: Printed) -> Run:
        """The run that a row belongs to: several rows make up one table."""
        self._rows_read += 1
        last = self.runs[-1] if self.runs else None
        if last is not None and last.has_results and self._heading is None:
            return last
        run = self._run(line)
        if not run.own_command:
            run.told, run.said_masked = self._told, run.said_masked or self._said_masked
        return run

    def _is_apart(self, run: Run) -> bool:
        """Whether a paragraph of prose stands between a run without results and what follows."""
        return self._heading is not None and self._after_blank and bool(run.facts or run.counts)

    def _start(self, line: int) -> Run:
        last = self.runs[-1] if self.runs else None
        run = Run(
            line,
            mask=self._standing_mask,
            heading=self._heading,
            under=self._under,
            standing_mask=self._standing_mask,
            said_masked=self._said_masked,
            told=self._told,
            aead=last is not None and last.aead,
        )
        if last is not None and self._heading is None:
            run.host, run.command, run.elapsed = last.host, last.command, last.elapsed
            run.commands = last.commands
            run.said_masked |= last.said_masked
            run.remarked_masked = last.remarked_masked
            run.mask = run.mask or (last.command.mask if last.command else None)
            run.mixed = last.mixed
            if not run.mixed:
                run.facts = {
                    name: value
                    for name, value in last.facts.items()
                    if environment.mask_in_settings(value) is None
                }
        elif last is not None and last.is_unclear and not self._after_blank:
            # Of commands that ran at once, the messages of one cut those of another.
            run.commands, run.command = last.commands, last.command
        self._heading = None
        self._said_masked = self._may_be_talk = False
        self.runs.append(run)
        return run

    def _machine(self, line: Printed) -> bool:
        found = read_machine_line(line.text)
        if found is None:
            return False
        if found.kind == "other":
            self.not_ciphers.append((line.line, "keys"))
        elif found.kind == "damaged":
            self._damaged(line, "This line of machine output is cut or broken.")
        else:
            self._machine_fact(line, found)
        return True

    def _machine_fact(self, line: Printed, found: MachineLine) -> None:
        run = self._run(line) if found.kind != "rates" or found.from_child else self._row_run(line)
        if found.header is not None:
            run.sizes, self._header = found.header, None
        if found.from_child:
            run.child_line = run.child_line or line.line
        if found.kind == "forked" and found.child is not None:
            run.forked.add(found.child)
        elif found.kind == "count":
            run.paired.read(line.line, line.text.strip())
        elif found.row is not None:
            row = PrintedRow(line.line, found.row, run.sizes, machine=True)
            if kind_of(found.row.label) == "other":
                self.not_ciphers.append((line.line, found.row.label))
                run.foreign_rows |= not found.from_child
            elif found.from_child:
                run.children[found.child if found.child is not None else -1] = row
            else:
                run.rows.append(row)

    def _doing(self, line: Printed) -> bool:
        if not is_doing(line.text):
            return False
        if not is_block_count(line.text):
            if " size blo" in line.text:
                self._damaged(line, "This line is cut before its result.")
            return True
        count = read_doing(line.line, line.text)
        run = self._run(line, fresh=self._is_over())
        self._header = None
        if count is None:
            self._damaged(line, "This line is cut or broken, or has no usable result.")
        else:
            run.counts.append(count)
        return True

    def _is_over(self) -> bool:
        """Whether counts cannot belong to the last run: its list of counts has ended."""
        return bool(self.runs) and (self.runs[-1].closed or self.runs[-1].child_line is not None)

    def _table_header(self, line: Printed) -> bool:
        header = read_header(line.text)
        if header is None:
            return False
        # The sum of several processes is printed without a header.
        several = bool(self.runs) and self.runs[-1].child_line is not None
        self._header, self._header_run = header, self._run(line, fresh=several)
        if not header.blocks:
            self._damaged(line, "The block sizes of this header cannot be told.")
        elif header.tail:
            self.listed.update(line.numbers)
        return True

    def _call(self, line: Printed) -> bool:
        """A command line of `openssl speed`, or one that sets a mask for later ones."""
        text = line.text
        if environment.is_unset(text):
            self._standing_mask = None
            self.masks_set.update(line.numbers)
            return True
        commands = read_commands(text)
        if not commands:
            if not environment.is_standing_mask(text):
                self._origin = _asked(text) or self._origin
                return environment.asks_version(text)
            self._standing_mask = environment.stated_mask(text)
            self.masks_set.update(line.numbers)
            return True
        last = self.runs[-1] if self.runs else None
        if last and last.awaits_output and environment.typed_part(text) is None:
            # A script that is shown: which of its commands printed what, comes later.
            last.commands = (*last.commands, *commands)[:CALLS_LIMIT]
            last.mixed = _differ(last.commands)
            return True
        self._under = None
        if not any(run.has_results for run in self.runs[-1:]) and self._heading_typed:
            self._heading = None
        is_headed, is_unclear = self._said_masked, self._may_be_talk
        run = self._start(line.line)
        run.command, run.commands, run.own_command = commands[0], commands, True
        run.mixed = _differ(commands)
        run.elapsed = commands[0].elapsed
        run.aead = any(command.aead for command in commands)
        run.mask = commands[0].mask or self._standing_mask
        if commands[0].host != run.host:
            run.host, run.facts = commands[0].host, {} if run.host else run.facts
        run.remarked_masked = environment.says_masked(text)
        # A heading about AES above the command before may be about this one, too.
        is_unclear |= run.said_masked and not is_headed
        self._told, run.told = "", "unclear" if is_unclear else ""
        self._origin = _origin(commands[0], text)
        if self._origin != self._facts_of:
            run.facts = {}
        return True

    def _fact(self, line: Printed) -> bool:
        version = environment.read_version(line.text)
        if version is not None:
            # A second version without figures between: the first run has lost its table.
            run = self._run(line, fresh=bool(self.runs) and self.runs[-1].closed)
            run.facts, self._facts_of = {"version_text": version}, self._origin
            run.closed = bool(run.counts)
            self._header = None
            return True
        fact = environment.read_fact(line.text)
        if fact is None:
            return False
        key, value = fact
        if key is not None:
            self._run(line).facts[key] = value
            self._facts_of = self._origin
        return True

    def _keys(self, line: Printed) -> bool:
        text = line.text
        times = len(_KEY_TIME.findall(text)) if "s " in text else 0
        named = _KEYS.match(text.lstrip()) is not None
        if not named and times < 2:
            return False
        if not (named and times) and read_row(text) is not None:
            return False
        if any(character.isdigit() for character in text):
            self.not_ciphers.append((line.line, "keys"))
        return True

    def _table_row(self, line: Printed) -> bool:
        if self._header is None and "|" in line.text and _is_of_others(line.text):
            return False
        row = read_row(line.text)
        if row is None or not self._is_credible(row):
            return False
        kind = kind_of(row.label)
        if kind == "other":
            self.not_ciphers.append((line.line, row.label))
            self._row_run(line).foreign_rows = True
        elif _FOOTNOTE.fullmatch(row.rest):
            self._damaged(line, "A footnote says something of this row that is not known.")
            self.listed.update(line.numbers)
        else:
            run = self._row_run(line)
            run.rows.append(PrintedRow(line.line, row, self._header_for(row, run), line.side))
        self._foreign = False
        return True

    def _header_for(self, row: Row, run: Run) -> Header | None:
        """The header over a row; one of an earlier run is believed only of a row that fills it."""
        header = self._header
        foreign = header is not None and header.blocks and self._header_run is not run
        return None if header and foreign and len(header.blocks) != len(row.cells) else header

    def _is_credible(self, row: Row) -> bool:
        """Whether a line with figures is a row of a table and not a sentence."""
        whole = self._header is not None and len(row.cells) == len(self._header.blocks)
        if kind_of(row.label) == "unknown":
            return whole and not row.rest
        if row.rest and not whole and row.rest[0] not in "(#<[|":
            return False
        return self._header is not None or len(row.cells) >= TABLE_COLUMNS or self._has_sizes()

    def _has_sizes(self) -> bool:
        """Whether a row without a header can have got block sizes in another way."""
        last = self.runs[-1] if self.runs and self._heading is None else None
        return last is not None and bool(
            last.sizes or last.counts or (last.command and last.command.block)
        )

    def _gnu_time(self, line: Printed) -> bool:
        """A line of what GNU `time -v` says of an `openssl speed`."""
        if _GNU_TIME.match(line.text):
            self._time_report = GNU_TIME_LINES
            return True
        self._time_report = self._time_report - 1 if ": " in line.text else 0
        return self._time_report > 0

    def _surroundings(self, line: Printed) -> bool:
        """What the tool or the shell prints around the figures."""
        text = line.text
        if environment.is_notice(text):
            if "measure elapsed time" in text:
                self._run(line).elapsed = True
            return True
        ran = bool(self.runs) and self._heading is None
        if ran and _SHELL_TIMES.fullmatch(text):
            return not self._foreign
        return ran and _RULE.fullmatch(text) is not None

    def _other(self, line: Printed, blank: bool) -> None:
        """A line of other origin: it may say what the next table is about."""
        text = line.text.strip()
        self._foreign = True
        if environment.is_prompt(line.text) and not text.startswith("#"):
            self._origin = _asked(text) or text
            if self._has_output:
                self._typed(line.text)
            return
        if _TRY.fullmatch(text) or _DD.match(text):
            return
        masked = self._said_masked or (bool(self.runs) and self.runs[-1].said_masked)
        self._told = told_in(text, self._told or self._told_by_command, masked=masked)
        if environment.says_masked(text):
            self._said_masked, self._may_be_talk = True, may_be_talk(text)
        if self._heading_typed and not blank:
            return
        self._under = None
        if speaks_of_sizes(text):
            self._header = UNREADABLE
        self._after_blank = blank or (self._heading is not None and self._after_blank)
        self._heading = text

    @property
    def _told_by_command(self) -> Told:
        """What a command says of the tables under further headings: a loop may print those."""
        last = self.runs[-1] if self.runs and self.runs[-1].has_results else None
        several = last is not None and any(one.multi or one.decrypt for one in last.commands)
        return "unclear" if several else ""

    def _typed(self, text: str) -> None:
        """A command that is not `openssl speed`: what it prints, or changes, may be anything."""
        command = command_of(text)
        if command is None or not command.typed or command.keeps or command.ssh:
            return
        self._under = self._heading = (environment.typed_part(text) or text).strip()
        self._after_blank = True
        self._told = self._told or self._told_by_command

    @property
    def _heading_typed(self) -> bool:
        return self._heading is not None and self._heading == self._under

    def _damaged(self, line: Printed, detail: str) -> None:
        self.remarks.append(Remark(line.line, "damaged", detail))


def _asked(text: str) -> str | None:
    """The program whose version a command asks for."""
    asked = read_commands(_VERSION_ASKED.sub(" speed", text)) if " version" in text else ()
    return _origin(asked[0], text) if asked else None


def _origin(command: Command, text: str) -> str:
    """Which program a version is of, and where it runs: of any other it says nothing."""
    words = [word for word in command.setting if re.match(r"\w+=", word)]
    host = command.host if command.host != environment.prompt_host(text) else None
    return " ".join([host or "", command.place, *words, command.program]).strip()


def _differ(commands: Iterable[Command]) -> bool:
    return len({one.meaning for one in commands}) > 1


def _is_of_others(text: str) -> bool:
    """Whether a row between bars begins with a name that `openssl speed` does not print."""
    label, *_ = text.strip(" |").split("|", 1)
    return kind_of(" ".join(label.split())) == "unknown"
