"""The way in: a text of any format to all that is understood of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from parsers.lines import Line, numbered_lines
from parsers.openssl.speed import read_openssl_speed
from parsers.sbc_bench.reports import read_sbc_bench
from parsers.ssh.text import read_ssh_text
from parsers.types import Format, Part, Reading, Remark, Unrecognised

Unit = Literal["MB", "MiB"]

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
    ssh formats on the lines that it leaves. Raises nothing, whatever the text; linear in time.
    """
    how = how or HowToRead()
    lines = numbered_lines(text)
    parts = list(_parts(lines, how))
    understood = frozenset[int]().union(*(part.understood for part in parts))
    sections = [section for part in parts for section in part.sections if section.figures]
    return Reading(
        format=_format_of_most(parts, how),
        sections=tuple(sorted(sections, key=lambda section: section.line)),
        unrecognised=tuple(
            Unrecognised(line.number, line.given[:SHOWN_CHARACTERS])
            for line in lines
            if line.number not in understood and line.text.strip()
        ),
        remarks=tuple(sorted((one for part in parts for one in part.remarks), key=_place)),
    )


def _place(remark: Remark) -> tuple[int, str]:
    return remark.line, remark.code


def _parts(lines: Sequence[Line], how: HowToRead) -> Iterator[Part]:
    """What each format's parser makes of the lines that those before it have left."""
    if how.format in (None, "sbc-bench"):
        report = read_sbc_bench(lines)
        if report is not None:
            yield report
        if report is not None or how.format is not None:
            return
    left = lines
    if how.format in (None, "openssl-speed"):
        part = read_openssl_speed(lines)
        yield part
        left = [line for line in lines if line.number not in part.understood]
    if how.format != "openssl-speed":
        yield read_ssh_text(left, unit=how.unit, transferred=how.transferred, cipher=how.cipher)


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
