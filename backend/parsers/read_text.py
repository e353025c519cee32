"""The way in: a text of any format to all that is understood of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from parsers.guard import Guard
from parsers.lines import Line, numbered_lines
from parsers.listings import whole_lines
from parsers.openssl.speed import read_openssl_speed
from parsers.sbc_bench.reports import is_report, read_sbc_bench
from parsers.ssh.text import read_ssh_text
from parsers.types import (
    Figure,
    Format,
    ParserFailure,
    Part,
    Reading,
    Remark,
    Section,
    Unrecognised,
)

Unit = Literal["MB", "MiB"]

_NO_RESULT = "Commands, names and settings, but no result of a cipher"

_TARGET_ASSUMED = (
    "Nothing says to which machine the connection was: taken to be the same one (loopback)"
)

SHOWN_CHARACTERS = 500
"""Of an unrecognised line: enough to know it again."""


@dataclass(frozen=True)
class HowToRead:
    """What a text may not say itself: its format, what MB means, bytes of each transfer, cipher."""

    format: Format | None = None
    unit: Unit | None = None
    transferred: int | None = None
    cipher: str | None = None
    """Of ssh transfers whose text names none; a name that ssh never had is as good as none."""


def read_text(text: str, how: HowToRead | None = None) -> Reading:
    """Every figure of a text, section by section, and every line that says nothing to us.

    Without a format, all are tried: a whole sbc-bench report first; then `openssl speed`, and the
    ssh formats on the lines that it leaves. Raises nothing, whatever the text: where a parser
    raises, its lines are unrecognised and `failures` says why. Linear in time.
    """
    how, guard = how or HowToRead(), Guard()
    no_lines: list[Line] = []
    lines = guard.run("lines", lambda: whole_lines(numbered_lines(text), text), no_lines)
    parts = list(_parts(lines, how, guard))
    sections = tuple(sorted(_sections(parts), key=lambda section: section.line))
    remarks = sorted(_remarks(parts, guard.failures), key=_place)
    unrecognised = tuple(_unrecognised(lines or _given_lines(text), parts))
    if not (sections or remarks or unrecognised):
        # All of it was understood, and none of it is a result.
        unrecognised = tuple(_unrecognised(lines, ()))
        remarks = [Remark(one.line, "no_result", _NO_RESULT) for one in unrecognised[:1]]
    return Reading(
        format=_format_of_most(parts, how),
        sections=sections,
        unrecognised=unrecognised,
        remarks=tuple(remarks),
        failures=tuple(guard.failures),
    )


def nothing_read(text: str, failure: ParserFailure) -> Reading:
    """The reading of a text that no parser could be brought to read."""
    lines = tuple(_unrecognised(_given_lines(text), ()))
    return Reading(None, (), lines, (failure.remark,), (failure,))


def _given_lines(text: str) -> list[Line]:
    """The lines as they stand in the text, for when they could not be prepared."""
    return [Line(number, given, given) for number, given in enumerate(text.split("\n"), start=1)]


def _sections(parts: Iterable[Part]) -> Iterator[Section]:
    return (section for part in parts for section in part.sections if section.figures)


def _figures(parts: Iterable[Part]) -> Iterator[Figure]:
    return (figure for section in _sections(parts) for figure in section.figures)


def _unrecognised(lines: Iterable[Line], parts: Iterable[Part]) -> Iterator[Unrecognised]:
    understood = frozenset[int]().union(*(part.understood for part in parts))
    for line in lines:
        if line.number not in understood and line.text.strip():
            yield Unrecognised(line.number, line.given[:SHOWN_CHARACTERS])


def _remarks(parts: Iterable[Part], failures: Iterable[ParserFailure]) -> Iterator[Remark]:
    for part in parts:
        yield from part.remarks
    if lines := [one.line for one in _figures(parts) if one.tool == "ssh" and not one.target_kind]:
        yield Remark(min(lines), "target_assumed", _TARGET_ASSUMED)
    for failure in failures:
        yield failure.remark


def _place(remark: Remark) -> tuple[int, str]:
    return remark.line, remark.code


def _parts(lines: Sequence[Line], how: HowToRead, guard: Guard) -> Iterator[Part]:
    """What each format's parser makes of the lines that those before it have left."""
    if how.format in (None, "sbc-bench"):
        if guard.run("sbc-bench", lambda: is_report(lines), False):
            # Whatever comes of it: to the other parsers a report's review would be new figures.
            yield guard.run("sbc-bench", lambda: read_sbc_bench(lines), None) or Part()
            return
        if how.format is not None:
            return
    left = lines
    if how.format in (None, "openssl-speed"):
        part = guard.run("openssl-speed", lambda: read_openssl_speed(lines), Part())
        yield part
        taken = (part.understood - part.shared) | part.withheld
        left = [line for line in lines if line.number not in taken]
    if how.format != "openssl-speed":
        yield guard.run("ssh transfers", lambda: _read_ssh(left, how), Part())


def _read_ssh(lines: Sequence[Line], how: HowToRead) -> Part:
    return read_ssh_text(lines, unit=how.unit, transferred=how.transferred, cipher=how.cipher)


def _format_of_most(parts: Sequence[Part], how: HowToRead) -> Format | None:
    """Of most figures; the one that was asked for, if it found any."""
    figures = Counter[Format]()
    for part in parts:
        for section in part.sections:
            if part.format is not None:
                figures[part.format] += len(section.figures)
    if not figures:
        return None
    return how.format or figures.most_common(1)[0][0]
