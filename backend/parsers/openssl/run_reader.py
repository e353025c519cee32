"""The lines of an `openssl speed` text in turn: what each adds to which run."""

import re
from collections.abc import Iterable

from parsers.openssl import build_facts
from parsers.openssl.cipher_names import kind_of
from parsers.openssl.commands import CALLS_LIMIT, Command, read_commands
from parsers.openssl.doing import is_block_count, is_doing, read_doing
from parsers.openssl.lines import Printed
from parsers.openssl.machine_readable import MachineLine, read_machine_line
from parsers.openssl.run_context import RunContext
from parsers.openssl.runs import PrintedRow, Run
from parsers.openssl.tables import (
    UNREADABLE,
    Header,
    Row,
    read_header,
    read_row,
    speaks_of_sizes,
)
from parsers.ssh.machine_facts import facts_of
from parsers.ssh.units import is_rate_within
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
"""Columns of the narrowest table that the tool prints by default."""
GNU_TIME_LINES = 23
"""Lines of a GNU `time -v` report."""
MOST_ROWS = 20_000
_TOO_MANY = f"more than {MOST_ROWS:,} rows of tables: those from here are not read"


class RunReader:
    """Takes in printed lines one by one; afterwards `context` and `understood` are complete."""

    def __init__(self, *, has_output: bool) -> None:
        """`has_output`: whether the text may have figures, so that commands between them matter."""
        self._has_output = has_output
        self.context = RunContext()
        self.understood: set[int] = set()
        self.remarks: list[Remark] = []
        self.listed: set[int] = set()
        """Lines that were read, but have something in them that was not understood."""
        self.missed: set[int] = set()
        """Lines of which at least a piece was not understood."""
        self.shared: set[int] = set()
        """Lines that hold for all commands below them: masks, what the machine is."""
        self.not_ciphers: list[tuple[int, str]] = []
        self._header: Header | None = None
        self._header_run: Run | None = None
        self._foreign = False
        self._origin = self._facts_of = PLAIN
        self._time_report = 0

    def read(self, lines: Iterable[Printed]) -> None:
        """Take in all lines of a text."""
        blank = True
        for line in lines:
            if not line.text:
                blank = True
                continue
            if self.context.rows_read >= MOST_ROWS:
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
        is_row = found.kind == "rates" and not found.from_child
        run = self.context.row_run(line) if is_row else self.context.run(line)
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
        run = self.context.run(line, fresh=self.context.is_over())
        self._header = None
        if count is None:
            self._damaged(line, "This line is cut or broken, or has no usable result.")
        else:
            run.counts.append(count)
        return True

    def _table_header(self, line: Printed) -> bool:
        header = read_header(line.text)
        if header is None:
            return False
        last = self.context.last
        # The sum of several processes is printed without a header.
        several = last is not None and last.child_line is not None
        self._header, self._header_run = header, self.context.run(line, fresh=several)
        if not header.blocks:
            self._damaged(line, "The block sizes of this header cannot be told.")
        elif header.tail:
            self.listed.update(line.numbers)
        return True

    def _call(self, line: Printed) -> bool:
        """A command line of `openssl speed`, or one that sets a mask for later ones."""
        text = line.text
        if build_facts.is_unset(text):
            self.context.standing_mask = None
            self.shared.update(line.numbers)
            return True
        commands = read_commands(text)
        if not commands:
            if not build_facts.is_standing_mask(text):
                self._origin = _asked(text) or self._origin
                return build_facts.asks_version(text)
            self.context.standing_mask = build_facts.stated_mask(text)
            self.shared.update(line.numbers)
            return True
        if is_rate_within(text):
            self.listed.update(line.numbers)  # its block size is unknown: no figure
        last = self.context.last
        if last and last.awaits_output and build_facts.typed_part(text) is None:
            # A script that is shown: which of its commands printed what, comes later.
            last.commands = (*last.commands, *commands)[:CALLS_LIMIT]
            last.mixed = _differ(last.commands)
            return True
        if self.context.heading_typed and not (last and last.has_results):
            self.context.heading = None
        self.context.under = None
        self.context.see_host(commands[0].host)
        is_headed, is_unclear = self.context.said_masked, self.context.may_be_talk
        run = self.context.start(line.line)
        run.command, run.commands, run.own_command = commands[0], commands, True
        run.mixed = _differ(commands)
        run.elapsed = commands[0].elapsed
        run.aead = any(command.aead for command in commands)
        run.mask = commands[0].mask or self.context.standing_mask
        if commands[0].host != run.host:
            run.host, run.facts = commands[0].host, {} if run.host else run.facts
        run.remarked_masked = build_facts.says_masked(text)
        # A heading about AES above the command before may be about this one, too.
        is_unclear |= run.said_masked and not is_headed
        self.context.told, self.context.told_at = "", None
        run.told = "unclear" if is_unclear else ""
        self._origin = _origin(commands[0], text)
        if self._origin != self._facts_of:
            run.facts = {}
        return True

    def _fact(self, line: Printed) -> bool:
        version = build_facts.read_version(line.text)
        if version is not None:
            # A second version without figures between: the first run has lost its table.
            last = self.context.last
            run = self.context.run(line, fresh=last is not None and last.closed)
            run.facts, self._facts_of = {"version_text": version}, self._origin
            run.closed = bool(run.counts)
            self._header = None
            return True
        fact = build_facts.read_fact(line.text)
        if fact is None:
            return False
        key, value = fact
        if key is not None:
            self.context.run(line).facts[key] = value
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
            self.context.row_run(line).foreign_rows = True
        elif _FOOTNOTE.fullmatch(row.rest):
            self._damaged(line, "A footnote says something of this row that is not known.")
            self.listed.update(line.numbers)
        else:
            run = self.context.row_run(line)
            run.rows.append(PrintedRow(line.line, row, self._header_for(row, run)))
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
        last = self.context.last if self.context.heading is None else None
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
        if build_facts.is_notice(text):
            if "measure elapsed time" in text:
                self.context.run(line).elapsed = True
            return True
        ran = self.context.last is not None and self.context.heading is None
        if ran and _SHELL_TIMES.fullmatch(text):
            return not self._foreign
        return ran and _RULE.fullmatch(text) is not None

    def _other(self, line: Printed, blank: bool) -> None:
        """A line of other origin: it may say what the next table is about."""
        text = line.text.strip()
        self._foreign = True
        if build_facts.is_prompt(line.text) and not text.startswith("#"):
            self._origin = _asked(text) or text
            self.context.see_host(build_facts.prompt_host(line.text))
            if self._has_output:
                self.context.typed(line.text)
            return
        if _TRY.fullmatch(text) or _DD.match(text):
            return
        if self._has_output and (facts := facts_of(text)) is not None:
            self.context.learn(facts)
            self.understood.update(line.numbers)
            self.shared.update(line.numbers)
            return
        if self.context.see_words(text, line.line, blank=blank) and speaks_of_sizes(text):
            self._header = UNREADABLE

    def _damaged(self, line: Printed, detail: str) -> None:
        self.remarks.append(Remark(line.line, "damaged", detail))


def _asked(text: str) -> str | None:
    """The program whose version a command asks for."""
    asked = read_commands(_VERSION_ASKED.sub(" speed", text)) if " version" in text else ()
    return _origin(asked[0], text) if asked else None


def _origin(command: Command, text: str) -> str:
    """Which program a version is of, and where it runs: of any other it says nothing."""
    words = [word for word in command.setting if re.match(r"\w+=", word)]
    host = command.host if command.host != build_facts.prompt_host(text) else None
    return " ".join([host or "", command.place, *words, command.program]).strip()


def _differ(commands: Iterable[Command]) -> bool:
    return len({one.meaning for one in commands}) > 1


def _is_of_others(text: str) -> bool:
    """Whether a row between bars begins with a name that `openssl speed` does not print."""
    label, *_ = text.strip(" |").split("|", 1)
    return kind_of(" ".join(label.split())) == "unknown"
