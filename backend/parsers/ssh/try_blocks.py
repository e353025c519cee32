"""Tries under a heading or a command: which cipher a dd summary or a time belongs to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from parsers.ssh.commands.command import Command
from parsers.ssh.dd_lines import DdSummary
from parsers.ssh.headings import names_other_tool
from parsers.ssh.names import CipherName
from parsers.ssh.transfer_reports import Kind, Report

_ANY_FILE = re.compile(r"[*?$]|\s-\w*r|\bsftp\b")
SAME_TRANSFER = 0.03
"""Share by which the two ends of one transfer may differ in their seconds."""
WHOLE = ("+0", "+1")
"""Ends of dd's counts where it reads a file; a pipe gives it many partial records."""
LISTING = 3
"""So many names in a row, nothing between them, are a listing rather than headings."""


@dataclass(frozen=True)
class Summary:
    """A dd summary at a line; `records` are dd's counts before it, "" where it has none."""

    line: int
    dd: DdSummary
    records: str


@dataclass(frozen=True)
class Clock:
    """Seconds of a transfer by the clock on the wall."""

    line: int
    seconds: float


@dataclass
class Block:
    """What stands between one heading or command and the next."""

    line: int
    command: Command
    cipher: CipherName | None = None
    mac: str | None = None
    attempt: bool = False
    titled: bool = False
    """Whether words above its name may be the titles of the lines below it."""
    listed: int = 0
    """How many bare names came right before, this one included."""
    compression: bool = False
    failed: bool = False
    below_failure: bool = False
    """Whether a transfer may have failed between the last command and its name."""
    unordered: bool = False
    """Whether its name may belong to the result above it instead."""
    foreign: bool = False
    """Whether something that is not understood stands between it and the last cipher."""
    context: tuple[int, int, str] = (0, 0, "")
    """How many lines above it may have changed something, how deep its own line is quoted, and the
    command that set the mask in force.
    """
    remark: str = ""
    summaries: list[Summary] = field(default_factory=list)
    clocks: list[Clock] = field(default_factory=list)
    rates: list[tuple[int, Report]] = field(default_factory=list)
    """Printed rates, each with its line."""
    moved: int | None = None
    """Bytes of the whole connection, where ssh's log says."""
    agreed: bool = False
    """Whether the cipher is from that log."""
    records: str = ""
    """dd's first counts of records since the last summary."""
    sent_part: bool = False
    """Whether most of the file was on the other side already, or was sent compressed."""
    downward: CipherName | None = None
    """What the server sends with, by the log of a client that sends with another cipher."""

    def goes_on_with(self, cipher: CipherName) -> bool:
        """Whether a display of the same cipher is of the transfer that it shows (`pv -N`)."""
        last = self.rates[-1][1] if self.rates else None
        return self.cipher == cipher and last is not None and last.unfinished

    @property
    def is_empty(self) -> bool:
        """Whether nothing was measured."""
        return not (self.summaries or self.clocks or self.rates)

    @property
    def result_lines(self) -> list[int]:
        """Where its results stand."""
        timed = [one.line for one in self.summaries] + [one.line for one in self.clocks]
        return timed + [line for line, _ in self.rates]

    @property
    def is_elsewhere(self) -> bool:
        """Whether a single command that sends nothing through ssh gave its results."""
        return self.command.apart and not self.command.by_variable

    @property
    def results(self) -> int:
        """How many there are of the kind that has most."""
        return max(len(self.summaries), len(self.clocks), len(self.rates))

    @property
    def is_timed(self) -> bool:
        """Whether it has nothing but a time."""
        return not (self.summaries or self.rates) and bool(self.clocks)

    @property
    def bare_rates(self) -> int:
        """How many rates stand alone on their lines."""
        tries = (one for _, one in self.rates if one.kind == "try")
        return sum(one.moved is None and one.seconds is None for one in tries)

    def lacks(self, other: "Block") -> bool:
        """Whether it has no result of the kind by which the other is measured.

        A time does not count: it may be that of the whole loop.
        """
        return not (self.summaries if other.summaries else other.rates and self.rates)

    def add_summary(self, line: int, dd: DdSummary) -> None:
        """One more summary; it takes the place of the progress reports before it."""
        new = Summary(line, dd, self.records)
        while self.summaries and _is_progress(self.summaries[-1], new):
            self.summaries.pop()
        self.summaries.append(new)
        self.records = ""

    def is_of(self, report: Report) -> bool:
        """Whether the file of a report may be this transfer's: named by the command, or again."""
        if not report.file:
            return True
        words = self._files
        if not any(word.startswith(report.file) for word in words) and not self.sends_any_file:
            first = next((one.file for _, one in self.rates if one.file), report.file)
            is_other_thing = "." not in report.file and names_other_tool(report.file)
            return first == report.file and not is_other_thing
        return True

    @property
    def _files(self) -> list[str]:
        return [word.rsplit("/", 1)[-1] for word in self.command.wording.split()]

    def names_file(self, text: str) -> bool:
        """Whether a line is the name of a file that the command sends, as rsync prints it."""
        return self.command.ssh and text in self._files

    @property
    def sends_any_file(self) -> bool:
        """Whether the command does not name its files: of a folder, a pattern, a variable."""
        return _ANY_FILE.search(self.command.wording) is not None

    def add_rate(self, line: int, report: Report) -> None:
        """One more printed rate; it takes the place of what was shown of the same transfer."""
        if report.session:
            report = replace(report, moved=self.moved)
        while self.rates:
            at, earlier = self.rates[-1]
            same_line = at == line and report.kind == earlier.kind == "display"
            if not (same_line or report.follows(earlier)):
                break
            self.rates.pop()
        self.rates.append((line, report))

    def counted_rates(self) -> list[tuple[int, Report]]:
        """The tries; without those their mean; without that the rate of the whole connection."""
        by_kind = {kind: [one for one in self.rates if one[1].kind == kind] for kind in _KINDS}
        tries = by_kind["try"] + by_kind["display"]
        return tries or by_kind["mean"] or by_kind["total"][:1]


_KINDS: tuple[Kind, ...] = ("try", "display", "mean", "total")


def _is_progress(earlier: Summary, later: Summary) -> bool:
    """dd says how far it is when asked to (status=progress, a signal), and again at its end."""
    in_order = earlier.dd.seconds <= later.dd.seconds
    if earlier.dd.bytes < later.dd.bytes:
        return in_order
    if earlier.records or earlier.dd.bytes != later.dd.bytes:
        return False
    if earlier.line == later.line or later.records:
        return in_order or _nearly(earlier.dd.seconds, later.dd.seconds)
    # The last of GNU's progress reports, which are of whole seconds, without the counts.
    return earlier.dd.whole and 0 < later.dd.seconds - earlier.dd.seconds < 1


def _nearly(first: float, second: float) -> bool:
    return abs(first - second) <= SAME_TRANSFER * max(first, second)


def transfers(summaries: Sequence[Summary], *, both_ends: bool, attempt: bool) -> list[Summary]:
    """The summaries, one a transfer: where dd ran at both ends, the second is the first again.

    Two that count the same bytes in other records are of two ends, whatever the command.
    """
    whole = [one for one in summaries if one.records.endswith(WHOLE)]
    sent = {one.dd.bytes: one.records for one in reversed(whole)}
    own = [one for one in summaries if one.records in ("", sent.get(one.dd.bytes, one.records))]
    if len(own) < len(summaries):
        return own
    if not (both_ends or attempt):
        return list(summaries)
    kept: list[Summary] = []
    waiting = False
    for one in summaries:
        if waiting and kept[-1].dd.bytes == one.dd.bytes:
            waiting = False
            continue
        kept.append(one)
        waiting = True
    return kept


def are_ends(blocks: Sequence[Sequence[Summary]]) -> bool:
    """Without a command: whether every heading has two summaries of nearly the same seconds."""
    measured = [block for block in blocks if block]
    return bool(measured) and all(
        len(block) == 2
        and block[0].dd.bytes == block[1].dd.bytes
        and _nearly(block[0].dd.seconds, block[1].dd.seconds)
        for block in measured
    )
