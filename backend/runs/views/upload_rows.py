"""Make the rows of a preview: the figures of one line, with the line."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from texts.types import Figure

LINE_LENGTH = 160
"""Characters shown of a line."""
RANGES_SHOWN = 100
SEARCHED = 5_000
"""Characters between two rows of a line that lost its breaks."""
CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if code != 9} | {127: 0x2421}
"""Shows a control character (a terminal's escapes, NUL) as its picture."""


class Row(NamedTuple):
    """Hold figures of one line that share cipher, setting and certainty."""

    figures: Sequence[Figure]
    line: str = ""
    ticked: bool = False
    assumed: Sequence[str] = ()
    """What is not assumed for the whole section."""

    @property
    def first(self) -> Figure:
        return self.figures[0]

    @property
    def keys(self) -> str:
        """Return the value of the row's tick box."""
        return ",".join(figure.key for figure in self.figures)

    @property
    def setting(self) -> str:
        return setting(self.first)


def grouped(figures: Iterable[Figure]) -> list[list[Figure]]:
    """Group figures, in the order of the text, into those of one row."""
    ordered = sorted(figures, key=lambda figure: (figure.line, figure.place))
    return [
        list(group)
        for _, group in groupby(
            ordered, lambda row: (row.line, row.cipher, row.uncertain, setting(row), row.assumed)
        )
    ]


def setting(figure: Figure) -> str:
    """Describe what differs from the usual measurement; empty for nothing."""
    target = f"to {figure.target_name or 'another host'}" if figure.target_kind == "remote" else ""
    words = (
        "decrypt" if figure.operation == "decrypt" else "",
        f"{figure.threads} threads" if figure.threads != 1 else "",
        target,
        f"MAC {figure.mac}" if figure.mac else "",
        "compression" if figure.compression else "",
        "AES instructions off" if figure.acceleration == "masked" else "",
    )
    return ", ".join(filter(None, words))


def place_of(cipher: str, line: str, after: int) -> int:
    """Find a cipher in a line that lost its breaks: where a number follows it, else anywhere."""
    name = r"\W?".join(re.split(r"\W", cipher)[:2])
    for follows in (r"[\w@. -]{0,16}?\W{0,9}\d", ""):
        if found := re.compile(name + follows, re.I).search(line, after, after + SEARCHED):
            return found.start()
    return after


def shorten(line: str, place: int = 0) -> str:
    """Cut a long line in its middle, or around the place where that would be cut off."""
    if len(line) > LINE_LENGTH:
        head, tail = LINE_LENGTH * 2 // 3, LINE_LENGTH // 3
        start = max(0, place - tail // 2)
        is_inside = head // 2 < place < len(line) - tail
        around = f"… {line[start : start + LINE_LENGTH]} …"
        line = around if is_inside else f"{line[:head]} … {line[-tail:]}"
    return line.strip().translate(CONTROL_PICTURES)


def line_ranges(numbers: Sequence[int]) -> str:
    """Write ascending line numbers as ranges: "1–4, 9"."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number <= ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    words = [f"{first}–{last}" if last > first else f"{first}" for first, last in ranges]
    return ", ".join([*words[:RANGES_SHOWN], "…"] if len(words) > RANGES_SHOWN else words)
