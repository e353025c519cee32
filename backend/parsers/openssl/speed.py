"""The way in: `openssl speed` of every version, human and `-mr`, with what stands around it."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from documents.software import openssl_release
from parsers.lines import Line
from parsers.openssl.figures import Placed, effective_mask, figures_of, threads_of
from parsers.openssl.lines import printed_lines
from parsers.openssl.run_reader import RunReader
from parsers.openssl.runs import Run
from parsers.ssh.commands.pipelines import shows_several_files
from parsers.types import Figure, Part, Remark, Section

_UNCLEAR = {
    "command_unclear": "Which command made this, or what all of its words change, is not clear,"
    " or how many processes it started:"
    " no figures are taken.",
    "context_unclear": "{} may say that this was decrypted, that several processes ran, or that AES"
    " was off: no figures are taken.",
}
LABEL_LIMIT = 80
"""Characters of a heading that a section's label takes over."""

GROUPS_LIMIT = 8
"""Groups in which the one that a run belongs to is looked for, the last ones first."""
PASTED_TWICE = 3
"""Figures of a table that no second measurement would give again."""
PART_SHOWN = 36
"""Characters of a part that a host's name shows."""
LABEL_SHOWN = 36
"""Characters of a label within which it differs from the others: as many as a name shows."""

_SAME_RATE = 0.02
"""Share by which a rate and its own count may differ: seconds are printed with two decimals."""

_OUTPUT = re.compile(r"\d[.,]\d{1,2}k\b|^\s*\+\w+:|bytes|Doing", re.I)
"""What any output of figures has somewhere."""


def read_openssl_speed(lines: Sequence[Line]) -> Part:
    """All figures of `openssl speed` in a text; runs that differ become sections of their own."""
    reader = RunReader(has_output=any(_OUTPUT.search(line.text) for line in lines))
    reader.read(printed_lines(lines))
    builder = _Sections()
    remarks = [*reader.remarks, *_left_out(reader)]
    withheld: set[int] = set()
    for run in reader.context.runs:
        run.choose_command()
        # Without the rows of its processes, nothing says how many they may have been.
        is_sum = bool(run.rows) and run.child_line is None and threads_of(run) is None
        is_unclear = run.is_unclear or is_sum
        code = "command_unclear" if is_unclear else "context_unclear"
        if run.lines and (is_unclear or run.told == "unclear"):
            withheld.update(run.lines)
            said_in = f"Line {run.told_at}" if run.told_at else "A heading or command above"
            remarks.append(Remark(min(run.lines), code, _UNCLEAR[code].format(said_in)))
            continue
        evaluated = figures_of(run)
        remarks += evaluated.remarks
        remarks += builder.add(run, evaluated.placed)
    remarks.sort(key=lambda remark: remark.line)
    sections = builder.sections()
    return Part(
        sections,
        frozenset(reader.understood - reader.listed - withheld - _in_part(lines, reader)),
        tuple(remarks),
        shared=frozenset(reader.shared),
        withheld=frozenset(withheld | reader.listed),
        format="openssl-speed" if sections else None,
    )


def _in_part(lines: Sequence[Line], reader: RunReader) -> set[int]:
    """Lines with breaks of another kind in them of which a piece was not understood."""
    return {line.number for line in lines if line.pieces and line.number in reader.missed}


def _left_out(reader: RunReader) -> list[Remark]:
    """One remark that counts the rows of algorithms that are no ciphers."""
    rows = reader.not_ciphers
    if not rows:
        return []
    count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    detail = f"{count} of digests, keys and other algorithms that are no ciphers."
    return [Remark(min(line for line, _ in rows), "not_a_cipher", detail)]


@dataclass
class _Group:
    """Runs in one environment, with nothing between them that could mean another machine."""

    run: Run
    environment: dict[str, Any]
    figures: dict[tuple[int, str | None], list[Figure]] = field(default_factory=dict)
    """By how often a cipher came before in its run, and by what stands behind its figures."""
    taken: dict[tuple[object, ...], tuple[str, ...]] = field(default_factory=dict)
    """The setting in which each series was measured."""

    @property
    def origin(self) -> tuple[object, ...]:
        """What is the same for all runs of one library on one machine.

        A heading begins another machine; a mask or the cores that a run is bound to do not.
        """
        run, command = self.run, self.run.command
        facts = sorted((key, said) for key, said in run.facts.items() if key != "cpu_settings")
        program = command.program if command else ""
        # What stands before the program says on which cores it runs, not what it measures.
        at = run.setting.index(program) if program in run.setting else 0
        place = command.place if command else ""
        beginning = run.line if run.heading else 0
        return (beginning, run.host, place, str(run.machine), *run.setting[at:], *facts)

    @property
    def differences(self) -> list[str]:
        """What may tell it from others of one machine: a heading, cores, a program, options."""
        run, command = self.run, self.run.command
        heading = [_heading(run)]
        if command is None:
            return heading
        at = run.setting.index(command.program) if command.program in run.setting else 0
        program = "" if command.program == "openssl" else command.program
        told = [word for word in run.setting[at + 1 :] if not word.startswith("-engine")]
        before = " ".join(run.setting[:at])
        return [*heading, before if before != command.place else "", program, *told]

    def holds(self, run: Run, placed: Iterable[Placed]) -> bool:
        """Whether figures of a run are of this machine, and new or further tries of the same."""
        if self.environment != _environment(run) or self.run.host != run.host:
            return False
        if run.command is not None and run.command.apart and run.own_command:
            return False
        if run.under is not None and (
            shows_several_files(run.under) or any(_series(one) in self.taken for one in placed)
        ):
            return False
        return all(self.taken.get(_series(one), run.setting) == run.setting for one in placed)


class _Sections:
    """Puts the figures of runs together as far as they belong together."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []
        self._since_heading = 0
        self._last_rates: dict[tuple[str, int | None], float] = {}
        self._read: set[tuple[str | None, tuple[object, ...]]] = set()
        """What tables said: for each machine, and for any."""

    def add(self, run: Run, placed: Sequence[Placed]) -> list[Remark]:
        """Take in the figures of a run; the remarks say which were there already."""
        fresh = [one for one in placed if not self._is_counted_again(one.figure)]
        self._last_rates = {
            (one.figure.cipher, one.figure.block_size): one.figure.bytes_per_second
            for one in placed
            if one.figure.bytes_per_second is not None
        }
        if self._is_known_table(run, fresh):
            return [Remark(run.line, "repeated", "This table has been read before.")]
        if fresh:
            group = self._group_for(run, fresh)
            for one in fresh:
                key = (one.repetition, one.note)
                group.figures.setdefault(key, []).append(one.figure)
                group.taken.setdefault(_series(one), run.setting)
                self._read |= {(run.host, _printed(one.figure)), (None, _printed(one.figure))}
        if len(fresh) == len(placed):
            return []
        detail = "These counts belong to the table before them, whose rates are taken."
        return [Remark(run.line, "repeated", detail)]

    def _is_counted_again(self, figure: Figure) -> bool:
        """Whether a count stands after the table that was made of it, as standard error does."""
        rate = self._last_rates.get((figure.cipher, figure.block_size))
        if rate is None or not figure.bytes or not figure.seconds:
            return False
        return abs(figure.bytes / figure.seconds - rate) <= _SAME_RATE * rate

    def _is_known_table(self, run: Run, placed: Sequence[Placed]) -> bool:
        """Whether the figures of a table have all been read: something else printed it again.

        Of `openssl speed` itself so many that no second measurement would give them again.
        """
        least = PASTED_TWICE if run.under is None else 1
        known = ((run.host, _printed(one.figure)) in self._read for one in placed)
        return len(placed) >= least and all(known)

    def _group_for(self, run: Run, placed: Sequence[Placed]) -> _Group:
        """The group that a run belongs to: what stands below a new heading is something new."""
        if run.heading is not None:
            self._since_heading = len(self._groups)
        candidates = self._groups[self._since_heading :][-GROUPS_LIMIT:]
        for group in reversed(candidates):
            if group.holds(run, placed):
                return group
        group = _Group(run, _environment(run))
        self._groups.append(group)
        return group

    def sections(self) -> tuple[Section, ...]:
        """All sections, in the order of the text, each with a label of its own."""
        parts = []
        for group in self._groups:
            notes = Counter(note for _, note in group.figures)
            for (repetition, note), figures in group.figures.items():
                row = repetition + 1 if notes[note] > 1 else None
                parts.append((group, figures, _label(group, row, note)))
        origins = defaultdict(set)
        for group, _, label in parts:
            origins[(label or "")[:LABEL_SHOWN]].add(group.origin)
        parted = self._parts()
        return tuple(
            Section(
                line=group.run.line,
                part=_part(group, parted.get(id(group))),
                figures=tuple(figures),
                environment=group.environment,
                host=group.run.host,
                label=label
                if len(origins[(label or "")[:LABEL_SHOWN]]) == 1
                else _numbered(label, number),
            )
            for number, (group, figures, label) in enumerate(parts, start=1)
        )

    def _parts(self) -> dict[int, str]:
        """What tells groups of one machine apart where their environments do not."""
        alike = defaultdict[tuple[str | None, str | None, str], list[_Group]](list)
        for group in self._groups:
            host = group.run.host
            label = None if host else _label(group, None, None)
            alike[host, label, json.dumps(group.environment, sort_keys=True)].append(group)
        told = {}
        for groups in alike.values():
            shared = set.intersection(*(set(group.differences) for group in groups))
            seen = set()
            for number, group in enumerate(groups, start=1):
                own = [one for one in group.differences if one and one not in shared]
                part = ", ".join(own)
                told[id(group)] = _numbered(part, number) if part[:PART_SHOWN] in seen else part
                seen.add(part[:PART_SHOWN])
        return told


def _heading(run: Run) -> str:
    return (run.heading or run.under or "").strip("#*_ :-")[:LABEL_LIMIT]


def _part(group: _Group, told: str | None) -> str | None:
    """What a machine's name needs beside it: an engine's figures are not the processor's.

    Nor are those of a container, which has libraries of its own, the machine's.
    """
    command = group.run.command
    own = (command.place, command.engine) if command else ()
    return ", ".join(one for one in (*own, told) if one) or None


def _numbered(label: str | None, number: int) -> str:
    """A label that others have, too, or one that begins as they do."""
    return f"{number}: {label}" if label else str(number)


def _printed(figure: Figure) -> tuple[object, ...]:
    """What a table says of a figure, whatever command it is of."""
    return (
        figure.cipher,
        figure.block_size,
        figure.bytes_per_second,
        figure.bytes,
        figure.seconds,
    )


def _series(one: Placed) -> tuple[object, ...]:
    figure = one.figure
    return (
        figure.cipher,
        figure.block_size,
        figure.operation,
        figure.threads,
        figure.acceleration,
        one.repetition,
        one.note,
    )


def _label(group: _Group, row: int | None, note: str | None) -> str | None:
    """What tells figures from those of other sections; `row` counts the rows of each cipher."""
    parts = [
        _heading(group.run),
        group.run.command.place if group.run.command else "",
        group.run.command.engine if group.run.command else "",
        openssl_release(group.run.facts.get("version_text")),
        note,
        f"row {row} of each cipher" if row is not None and row > 1 else None,
    ]
    return ", ".join(part for part in parts if part) or None


def _environment(run: Run) -> dict[str, Any]:
    """What the text says of the OpenSSL that ran, and where, in the shape of a run document."""
    facts = dict(run.facts)
    mask = effective_mask(run)
    if mask is not None:
        facts.setdefault("cpu_settings", mask)
    is_elsewhere = run.command is not None and run.command.place
    machine = {} if is_elsewhere else run.machine
    return {**machine, "openssl": facts} if facts else {**machine}
