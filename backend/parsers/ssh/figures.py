"""What was found in an ssh text, as figures, sections and remarks."""

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from operator import attrgetter
from typing import Any, Literal

from parsers.ssh.commands.command import Command
from parsers.ssh.lists.listed import ListedRate
from parsers.ssh.lists.row_remarks import tells_configuration
from parsers.ssh.machine_facts import Place
from parsers.ssh.names import CipherName
from parsers.ssh.reading_state import Found
from parsers.ssh.sequence import SshSequence
from parsers.ssh.transfer_reports import Report
from parsers.ssh.try_blocks import Block, Summary, are_ends, transfers
from parsers.ssh.units import Megabyte, Unit, number_of, number_style
from parsers.types import Figure, Format, Part, Remark, Section

IMPLAUSIBLE_RATE = 20e9
"""Bytes per second: more than any SSH connection moves."""
LONGEST = 1e7
"""Seconds, four months: a run document holds no more, and nobody waited as long."""
BUFFERED = 1 << 20
"""Bytes that the pipes and sockets on the way may hold: their time is not the cipher's."""
SLOWEST_SESSION = 100_000
"""Bytes per second: a connection with less was somebody's at a keyboard."""
SENT_WHOLE = 0.5
"""Share of a file that rsync sends at least, if it has none of it on the other side."""
SAME_AMOUNT = 1.11
"""Factor between an amount as people say it and its bytes: a "GB" may be of 2^30, rounded."""
PASTED_TWICE = 3
"""Figures in a row that no second measurement would give again."""
SAME_FIGURE = 0.03
"""Share by which a summary may differ from the tries that it sums up."""

_SENTENCES = {
    "no_cipher": "the text does not name the cipher of",
    "no_amount": "the text does not say how many bytes were sent in",
    "wall_clock": "the time includes setting up the connection, so the rate is a little low, in",
    "zero_rate": "a rate of 0 is left out in",
    "not_a_rate": "no rate can be made of the number in",
    "damaged": "a number that is cut off, or may mean two things, is left out in",
    "unit_unclear": "bits or bytes: the unit can mean either in",
    "columns_unclear": "several rates, and nothing says of what, in",
    "order_unclear": "names stand below the results or above them, which is not certain, in",
    "context_unclear": "what stands between or beside the figures may tell them apart from others"
    " of the same cipher in",
    "limited": "somebody set how fast the transfer may be in",
    "command_unclear": "the command above may do more than send bytes through one connection of"
    " ssh, or wait for a disk, in",
    "not_ssh": "the bytes did not go through ssh in",
    "repeated": "figures given a second time (at the other end, in a list) count once in",
    "unit_assumed": "MB is taken for 10^6 bytes (unit=MiB says otherwise) in",
}


@dataclass
class Tries:
    """Speeds of one series that dd or time measured, in bytes per second, in order of size."""

    speeds: list[float] = field(default_factory=list)
    total: float = 0.0
    of_commands: bool = False
    """Whether some are of commands in the text: a row of a list is none of those."""

    def add(self, figure: Figure) -> None:
        """One more try; a printed rate is known to be there, but is compared with nothing."""
        if figure.bytes is not None and figure.seconds:
            speed = figure.bytes / figure.seconds
            insort(self.speeds, speed)
            self.total += speed

    def hold(self, speed: float) -> bool:
        """Whether a printed rate is one of the tries, or their mean, once more."""
        if not self.speeds:
            return False
        at = bisect_left(self.speeds, speed)
        near = [*self.speeds[max(at - 1, 0) : at + 1], self.total / len(self.speeds)]
        return any(abs(speed - level) <= SAME_FIGURE * level for level in near)


Target = tuple[Literal["loopback", "remote"] | None, str | None]
Key = tuple[Any, ...]
"""What makes figures tries of one series of one machine."""


@dataclass
class Figures:
    """Turns what was found into figures and remarks."""

    sequence: SshSequence
    unit: Megabyte | None
    transferred: int | None
    cipher: CipherName | None
    style: str | None = None
    ends: bool = False
    target: Target = (None, None)
    figures: list[tuple[Key, Found, str | None, Figure, Format]] = field(default_factory=list)
    notes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    formats: Counter[Format] = field(default_factory=Counter)
    tries: dict[Key, Tries] = field(default_factory=lambda: defaultdict(Tries))
    says_mb: list[tuple[int, Megabyte]] = field(default_factory=list)

    def part(self) -> Part:
        """All of it, in the shape that the dispatcher takes."""
        found = self.sequence.state.found
        self.style = number_style(_numbers(found))
        commands = self.sequence.shell.commands
        self.says_mb = [(line, one.says_mb) for line, one in commands if one.says_mb]
        blocks = [one.what for one in found if isinstance(one.what, Block)]
        self.ends = not self.sequence.shell.commands and are_ends(
            [block.summaries for block in blocks if block.cipher and not block.attempt]
        )
        self.target = self._only_target()
        for one in found:
            if isinstance(one.what, Block):
                self._block(one, one.what)
        self._listed_all([one for one in found if isinstance(one.what, ListedRate)])
        self.notes["damaged"] += self.sequence.cut
        sections = tuple(self._sections())
        return Part(
            sections=sections,
            understood=frozenset(self.sequence.state.understood),
            remarks=tuple(self._remarks()),
            format=self.formats.most_common(1)[0][0] if self.formats else None,
        )

    def _block(self, one: Found, block: Block) -> None:
        """A block's dd summaries; without those its printed rates; without those its times."""
        if block.unordered or (block.failed and one.command.ssh):
            self.notes["not_a_rate" if block.failed else "order_unclear"].append(block.line)
            return
        if not one.command.ssh:
            elsewhere = "not_ssh" if one.command.apart else "no_cipher"
            self.notes[one.command.problem or elsewhere] += block.result_lines
            if one.command.problem:
                self.sequence.state.understood.difference_update(block.result_lines)
            return
        if block.summaries and not one.command.dd_apart:
            self._summaries(one, block)
        elif block.rates:
            self._reports(one, block)
        else:
            self._times(one, block)

    def _summaries(self, one: Found, block: Block) -> None:
        both_ends = one.command.both_ends or (self.ends and not block.attempt)
        kept = transfers(block.summaries, both_ends=both_ends, attempt=block.attempt)
        lines = {summary.line for summary in kept}
        self.notes["repeated"] += [one.line for one in block.summaries if one.line not in lines]
        for summary in kept:
            code = _fault(summary)
            if code:
                self.notes[code].append(summary.line)
            else:
                self._transfer(one, summary.line, summary.dd.bytes, summary.dd.seconds, "dd")

    def _reports(self, one: Found, block: Block) -> None:
        cipher = self._cipher_of(block)
        counted = block.counted_rates()
        if one.command.pv_ends:
            self.notes["repeated"] += [line for line, _ in counted[1:]]
            counted = counted[:1]
        if counted[0][1].kind == "total":
            self.notes["columns_unclear"] += [
                line for line, _ in block.rates if line != counted[0][0]
            ]
        sent = max((one.moved or 0 for _, one in block.rates if one.kind == "total"), default=0)
        for line, report in counted:
            is_part = 0 < sent < SENT_WHOLE * (report.moved or 0) or block.sent_part
            problem = "not_a_rate" if is_part else _report_fault(report, len(counted))
            problem = problem or (None if cipher else "no_cipher")
            listed = ListedRate(report.number, report.unit, cipher, problem=problem)
            self._rate(one, listed, line)

    def _times(self, one: Found, block: Block) -> None:
        amount = one.command.amount or self._told_amount(one.command)
        for clock in block.clocks:
            if one.command.times_loop or one.command.times_other:
                self.notes["command_unclear"].append(clock.line)
            elif self._cipher_of(block) is None:
                self.notes["no_cipher"].append(clock.line)
            elif not amount:
                self.notes["no_amount"].append(clock.line)
            elif not 0 < clock.seconds <= LONGEST:
                self.notes["not_a_rate"].append(clock.line)
            elif self._transfer(one, clock.line, amount, clock.seconds, "time"):
                self.notes["wall_clock"].append(clock.line)

    def _told_amount(self, command: Command) -> int | None:
        """Bytes of a transfer as the reader was told, unless the text states another amount."""
        said, told = command.says_amount, self.transferred
        if said and told and not 1 / SAME_AMOUNT <= told / said <= SAME_AMOUNT:
            return None
        return told

    def _cipher_of(self, block: Block) -> CipherName | None:
        """The block's own, or the one that the reader was told."""
        return block.cipher or (None if block.foreign else self.cipher)

    def _transfer(self, one: Found, line: int, moved: int, seconds: float, source: Format) -> bool:
        """One figure of exact bytes and seconds, if its cipher is known."""
        cipher = self._cipher_of(one.what) if isinstance(one.what, Block) else self.cipher
        if cipher is None:
            self.notes["no_cipher"].append(line)
            return False
        doubt = "so few bytes fit into the buffers on the way" if moved < BUFFERED else None
        self._add(
            one,
            source,
            None,
            Figure(
                line=line,
                tool="ssh",
                cipher=cipher.name,
                label=cipher.label,
                bytes=moved,
                seconds=seconds,
                implausible=doubt or _doubt(moved / seconds),
                **self._circumstances(one),
            ),
        )
        return True

    def _listed_all(self, rates: Sequence[Found]) -> None:
        """Single rates first: a mean beside the tries that it is made of is none of its own."""
        for mean in (False, True):
            for one in rates:
                if not isinstance(one.what, ListedRate) or one.what.mean is not mean:
                    continue
                if one.what.table in self.sequence.lists.doubted:
                    self.notes["columns_unclear"].append(one.line)
                else:
                    self._rate(one, one.what, one.line)

    def _rate(self, one: Found, rate: ListedRate, line: int) -> None:
        """One printed rate."""
        value = number_of(rate.number, self.style)
        code = rate.problem or one.command.problem or _rate_fault(rate.unit, value)
        if code or rate.unit is None or value is None or rate.cipher is None:
            self.notes[code or "damaged"].append(line)
            return
        megabyte = self.unit or self._megabyte_said(line)
        speed = value * rate.unit.factor(megabyte or "MB")
        if not isfinite(speed):
            self.notes["not_a_rate"].append(line)
            return
        figure = Figure(
            line=line,
            tool="ssh",
            cipher=rate.cipher.name,
            label=rate.cipher.label,
            bytes_per_second=speed,
            implausible=_doubt(speed),
            **self._circumstances(one),
        )
        if code := self._sums_up(one, rate, figure):
            self.notes[code].append(line)
            return
        if rate.unit.assumed and megabyte is None:
            self.notes["unit_assumed"].append(line)
        self._add(one, "cipher-list", rate.column, figure)

    def _sums_up(self, one: Found, rate: ListedRate, figure: Figure) -> str | None:
        """The remark on a row that sums up transfers above it, or is a mean of its own tries."""
        places = [one.place, one.place.after] if one.place.after else [one.place]
        for place in places:
            tries = self.tries.get(_key(place, one, figure, rate.column))
            if tries and (rate.mean or tries.hold(figure.bytes_per_second or 0.0)):
                return "repeated"
            if tries and tries.of_commands and not isinstance(one.what, Block):
                return "context_unclear"
        return None

    def _megabyte_said(self, line: int) -> Megabyte | None:
        """What the command before the line (or else the first after it) prints as MB."""
        if not self.says_mb:
            return None
        at = bisect_right(self.says_mb, line, key=lambda said: said[0])
        return self.says_mb[max(at - 1, 0)][1]

    def _add(self, one: Found, source: Format, column: str | None, figure: Figure) -> None:
        key = _key(one.place, one, figure, column)
        tries = self.tries[key]
        tries.add(figure)
        tries.of_commands |= isinstance(one.what, Block) and one.command.wording != ""
        self.figures.append((key, one, column, figure, source))

    def _certain(self) -> Iterator[tuple[Place, str | None, Figure, Format]]:
        """The figures without those that may be of another configuration than the first.

        So may those behind a line that is not understood, or in a mail quoted deeper. Where
        remarks, or words above the first, tell figures of one series apart, none is known to be
        the usual one's.
        """
        first: dict[Key, Found] = {}
        told_apart = set()
        said = attrgetter("remark") if self._counts_rows() else _said_beside
        for key, one, *_ in sorted(self.figures, key=lambda one: one[3].line):
            earlier = first.setdefault(key, one)
            is_elsewhere = one.circumstances != earlier.circumstances
            if said(earlier.what) != said(one.what) or (
                is_elsewhere and self.sequence.state.is_doubted(earlier)
            ):
                told_apart.add(key)
        for key, one, column, figure, source in self.figures:
            if figure.line >= self.sequence.shell.mixed_from:
                self.notes["command_unclear"].append(figure.line)
                self.sequence.state.understood.discard(figure.line)
            elif one.place.doubt:
                self.notes[one.place.doubt].append(figure.line)
            elif (
                key in told_apart
                or tells_configuration(one.what.remark)
                or one.circumstances != first[key].circumstances
            ):
                self.notes["context_unclear"].append(figure.line)
            else:
                yield one.place, column, figure, source

    def _circumstances(self, one: Found) -> dict[str, Any]:
        """MAC, compression, target and mask of a figure."""
        command = one.command
        block = one.what if isinstance(one.what, Block) else None
        kind, name = _target(command)
        if kind is None:
            kind, name = self.target
        return {
            "mac": one.what.mac or command.mac,
            "compression": block.compression if block else command.compression,
            "target_kind": kind,
            "target_name": name,
            "acceleration": command.masks or "default",
        }

    def _only_target(self) -> Target:
        """Where all ssh commands of a text about one machine send to: so did its results above."""
        targets = {_target(command) for _, command in self.sequence.shell.commands if command.ssh}
        places = {id(one.place.first) for one in self.sequence.state.found}
        return targets.pop() if len(targets) == len(places) == 1 else (None, None)

    def _counts_rows(self) -> bool:
        """Whether numbers that stand untitled before names count 1, 2, 3: others are of streams."""
        rates = [one.what for one in self.sequence.state.found if isinstance(one.what, ListedRate)]
        numbers = [one.row_number for one in rates if one.row_number is not None]
        return all(one == last + 1 or (one == 1 != last) for last, one in pairwise(numbers))

    def _sections(self) -> Iterator[Section]:
        """One for each machine, or for each column that is one."""
        grouped: dict[tuple[int, str | None], list[Figure]] = defaultdict(list)
        places: dict[int, Place] = {}
        for place, column, figure, source in self._certain():
            self.formats[source] += 1
            grouped[id(place), column].append(figure)
            places[id(place)] = place
        for (key, column), figures in grouped.items():
            place = places[key]
            figures = self._once(figures)
            yield Section(
                line=min(figure.line for figure in figures),
                figures=tuple(sorted(figures, key=lambda figure: figure.line)),
                environment=place.environment,
                host=place.host,
                label=", ".join(part for part in (place.label, column) if part) or None,
            )

    def _once(self, figures: list[Figure]) -> list[Figure]:
        """Without a whole list that was pasted twice, number for number."""
        half = len(figures) // 2
        first, second = figures[:half], figures[half:]
        if half < PASTED_TWICE or len(figures) % 2 or not all(map(_are_alike, first, second)):
            return figures
        if len({one.cipher for one in first}) == 1:
            return figures  # equal tries of one cipher, not a list
        self.notes["repeated"] += [figure.line for figure in second]
        return first

    def _remarks(self) -> Iterator[Remark]:
        """One of each code, at its first line, with how many lines it is about."""
        for code, lines in self.notes.items():
            if lines:
                number = len(set(lines))
                count = "this line" if number == 1 else f"{number} lines"
                sentence = f"{_SENTENCES[code]} {count}"
                yield Remark(min(lines), code, sentence[0].upper() + sentence[1:])


def _said_beside(what: ListedRate | Block) -> tuple[str, int | None]:
    """What stands beside a rate and may tell it from others of its cipher."""
    return what.remark, what.row_number if isinstance(what, ListedRate) else None


def _numbers(found: Iterable[Found]) -> Iterator[str]:
    for one in found:
        if isinstance(one.what, ListedRate):
            yield one.what.number
        else:
            yield from (report.number for _, report in one.what.rates)


def _fault(summary: Summary) -> str | None:
    """Why a dd summary gives no figure."""
    if summary.dd.damage:
        return "damaged"
    moved, seconds = summary.dd.bytes, summary.dd.seconds
    is_time = 0 < seconds <= LONGEST and isfinite(moved / seconds)
    return None if is_time and moved > 0 else "not_a_rate"


def _report_fault(report: Report, count: int) -> str | None:
    """Why a printed rate is none of a whole transfer."""
    if report.unfinished:
        return "damaged"
    if report.session and report.moved is None:
        return "no_amount"
    if report.moved is not None and report.moved < BUFFERED:
        return "not_a_rate"
    if report.session and float(report.number) < SLOWEST_SESSION:
        return "not_a_rate"
    bare = report.kind == "display" and report.moved is None and report.seconds is None
    return "columns_unclear" if bare and count > 1 else None


def _rate_fault(unit: Unit | None, value: float | None) -> str | None:
    """Why a printed rate gives no figure."""
    if value is None:
        return "damaged"
    if value == 0:
        return "zero_rate"
    if not isfinite(value):
        return "not_a_rate"
    return None if unit is None or unit.clear else "unit_unclear"


def _doubt(speed: float) -> str | None:
    return "more than any SSH connection moves" if speed > IMPLAUSIBLE_RATE else None


def _target(command: Command) -> Target:
    """What it says itself, else what words above it do."""
    if command.target_kind is None and command.far:
        return "remote", command.far
    return command.target_kind, command.target_name


def _key(place: Place, one: Found, figure: Figure, column: str | None) -> Key:
    # Words that name another machine at the far end are likely of another one at this end, too.
    target = figure.target_name if one.command.target_kind or not one.command.far else None
    circumstances = (figure.mac, figure.compression, figure.acceleration, target)
    return (id(place.first), column, figure.cipher, *circumstances)


_said = attrgetter(*(name for name in Figure._fields if name != "line"))


def _are_alike(figure: Figure, other: Figure) -> bool:
    """Whether two figures say the same, wherever they stand."""
    return bool(_said(figure) == _said(other))
