"""Which run of `openssl speed` a line belongs to, by what stands above it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parsers.openssl import build_facts
from parsers.openssl.headings import Told, told_in
from parsers.openssl.lines import Printed
from parsers.openssl.runs import Run
from parsers.ssh.commands.command_lines import command_of
from parsers.ssh.headings import may_be_talk
from parsers.ssh.machine_facts import contradicts, merged


@dataclass
class RunContext:
    """The runs so far, and the words and masks above the next one."""

    runs: list[Run] = field(default_factory=list)
    rows_read: int = 0
    standing_mask: str | None = None
    """The mask that a shell was told to export."""
    heading: str | None = None
    under: str | None = None
    """The command that prints what follows, if that is not known to be `openssl speed`."""
    after_blank: bool = False
    told: Told = ""
    told_at: int | None = None
    """The line that says, or may say, of another direction, of several processes or of a mask."""
    said_masked: bool = False
    may_be_talk: bool = False
    """Whether that was perhaps said of something else."""

    host: str | None = None
    """The machine that the last prompt or command names."""
    machine: Mapping[str, Any] = field(default_factory=dict)
    """What is said of the machine (/proc/cpuinfo, lscpu, uname) of the tables below."""

    @property
    def last(self) -> Run | None:
        """The last run so far."""
        return self.runs[-1] if self.runs else None

    def run(self, line: Printed, fresh: bool = False) -> Run:
        """The run that a line belongs to; a new one where the last has come to its results."""
        last = self.last
        if last is None or fresh or last.has_results or self._is_apart(last):
            return self.start(line.line)
        self.heading = None
        return last

    def row_run(self, line: Printed) -> Run:
        """The run that a row belongs to: several rows make up one table."""
        self.rows_read += 1
        last = self.last
        if last is not None and last.has_results and self.heading is None:
            return last
        run = self.run(line)
        if not run.own_command:
            run.told, run.said_masked = self.told, run.said_masked or self.said_masked
            run.told_at = self.told_at
        return run

    def _is_apart(self, run: Run) -> bool:
        """Whether a paragraph of prose stands between a run without results and what follows."""
        return self.heading is not None and self.after_blank and bool(run.facts or run.counts)

    def start(self, line: int) -> Run:
        """A new run; without a heading above it, what is known of the last holds for it."""
        last = self.last
        run = Run(
            line,
            mask=self.standing_mask,
            heading=self.heading,
            under=self.under,
            standing_mask=self.standing_mask,
            machine=self.machine,
            said_masked=self.said_masked,
            told=self.told,
            told_at=self.told_at,
            aead=last is not None and last.aead,
        )
        if last is not None and self.heading is None:
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
                    if build_facts.mask_in_settings(value) is None
                }
        elif last is not None and last.is_unclear and not self.after_blank:
            # Of commands that ran at once, the messages of one cut those of another.
            run.commands, run.command = last.commands, last.command
        self.heading = None
        self.said_masked = self.may_be_talk = False
        self.runs.append(run)
        return run

    def is_over(self) -> bool:
        """Whether counts cannot belong to the last run: its list of counts has ended."""
        return self.last is not None and (self.last.closed or self.last.child_line is not None)

    @property
    def told_by_command(self) -> Told:
        """What a command says of the tables under further headings: a loop may print those."""
        last = self.last
        if last is None or not last.has_results:
            return ""
        return "unclear" if any(one.multi or one.decrypt for one in last.commands) else ""

    def see_words(self, text: str, line: int, *, blank: bool) -> bool:
        """Words of other origin; whether they are a heading, and no output of a typed command."""
        masked = self.said_masked or (self.last is not None and self.last.said_masked)
        before = self.told or self.told_by_command
        self.told = told_in(text, before, masked=masked)
        if self.told == "decrypt" or (self.told == "unclear" and not (before or masked)):
            self.told_at = line
        if build_facts.says_masked(text):
            self.said_masked, self.may_be_talk, self.told_at = True, may_be_talk(text), line
        if self.heading_typed and not blank:
            return False
        if self.host is None and self.last is not None and self.last.has_results:
            self.machine = {}  # the heading may be another machine's
        self.under = None
        self.after_blank = blank or (self.heading is not None and self.after_blank)
        self.heading = text
        return True

    def see_host(self, host: str | None) -> None:
        """Where a command runs: of another machine, what was said before does not hold."""
        if host and self.host and host != self.host:
            self.machine = {}
        self.host = host or self.host

    def learn(self, facts: Mapping[str, Any]) -> None:
        """A line about the machine; below figures begins what is said of another one."""
        last = self.last
        begins = last is not None and last.has_results and last.machine is self.machine
        known = {} if begins or contradicts(self.machine, facts) else self.machine
        self.machine = merged(known, {key: facts[key] for key in ("cpu", "os") if key in facts})

    def typed(self, text: str) -> None:
        """A command that is not `openssl speed`: what it prints, or changes, may be anything."""
        command = command_of(text)
        if command is None or not command.typed or command.keeps or command.ssh:
            return
        self.under = self.heading = (build_facts.typed_part(text) or text).strip()
        self.after_blank = True
        self.told = self.told or self.told_by_command

    @property
    def heading_typed(self) -> bool:
        """Whether the heading is a typed command."""
        return self.heading is not None and self.heading == self.under
