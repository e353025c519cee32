"""Reading a large text in a process of its own, so that the threads of this one go on.

Parsing is pure Python and holds the interpreter's lock: in a thread of the web server it makes
every other request wait. What comes back is unpickled in small pieces for the same reason.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from parsers.read_text import HowToRead, nothing_read, read_text
from parsers.types import Figure, ParserFailure, Reading, Remark, Section, Unrecognised

SECONDS = 60
"""A text that takes longer is not read; 50,000 lines take 3 s of an idle core."""

NICENESS = 5
"""As workers: what is read in the background gives way to what somebody waits for."""

PIECE = 1_000
"""Figures, or lines, that are unpickled in one go: two milliseconds."""

PACKAGES = Path(__file__).parent.parent

Item = TypeVar("Item")


def read_in_process(text: str, how: HowToRead) -> Reading:
    """As `read_text`, in a new process. Its failure, or its end, is one of `failures`."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "parsers.reader_process"],
            input=pickle.dumps((text, how)),
            capture_output=True,
            cwd=PACKAGES,
            timeout=SECONDS,
            check=True,
        )
        return _assembled(BytesIO(done.stdout))
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", None) or b""
        reason = f"{error}\n{output.decode(errors='replace')}"
        return nothing_read(text, ParserFailure("the whole text", reason))


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Read what stands in `source`; the reading goes to `target` in pieces."""
    os.nice(NICENESS)
    text, how = pickle.load(source)  # noqa: S301 (from the process that started this one)
    for piece in _pieces(read_text(text, how)):
        pickle.dump(piece, target)


@dataclass
class _Growing:
    """A reading whose pieces are still coming."""

    figures: list[Figure] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    unrecognised: list[Unrecognised] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)


def _pieces(reading: Reading) -> Iterator[tuple[str, Any]]:
    """Each with its kind; the figures of a section come before it, the bare reading is the last."""
    for section in reading.sections:
        for figures in _in_pieces(section.figures):
            yield "figures", figures
        yield "section", replace(section, figures=())
    for lines in _in_pieces(reading.unrecognised):
        yield "unrecognised", lines
    for remarks in _in_pieces(reading.remarks):
        yield "remarks", remarks
    yield "end", replace(reading, sections=(), unrecognised=(), remarks=())


def _in_pieces(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), PIECE):
        yield items[start : start + PIECE]


def _assembled(source: BinaryIO) -> Reading:
    growing = _Growing()
    while True:
        kind, piece = pickle.load(source)  # noqa: S301 (from the process that was started here)
        if kind == "end":
            break
        if kind == "section":
            growing.sections.append(replace(piece, figures=tuple(growing.figures)))
            growing.figures.clear()
        else:
            getattr(growing, kind).extend(piece)
    reading: Reading = piece
    return replace(
        reading,
        sections=tuple(growing.sections),
        unrecognised=tuple(growing.unrecognised),
        remarks=tuple(growing.remarks),
    )


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
