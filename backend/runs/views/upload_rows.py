import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from texts.types import Figure

LINE_LENGTH = 160
RANGES_SHOWN = 100
SEARCHED = 5_000
"""Maximum number of characters to search for the next cipher name in a long line."""
CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if code != 9} | {127: 0x2421}
"""Visible symbols for control characters, such as ␛ for escape."""


class Row(NamedTuple):
    """Store results of one line with the same cipher, the same settings and the same certainty."""

    figures: Sequence[Figure]
    line: str = ""
    ticked: bool = False
    assumed: Sequence[str] = ()
    """Assumptions about these results only, not about all results of the section."""

    @property
    def first(self) -> Figure:
        return self.figures[0]

    @property
    def keys(self) -> str:
        return ",".join(figure.key for figure in self.figures)

    @property
    def setting(self) -> str:
        return setting(self.first)


def grouped(figures: Iterable[Figure]) -> list[list[Figure]]:
    ordered = sorted(figures, key=lambda figure: (figure.line, figure.position))
    return [
        list(group)
        for _, group in groupby(
            ordered, lambda row: (row.line, row.cipher, row.uncertain, setting(row), row.assumed)
        )
    ]


def setting(figure: Figure) -> str:
    """Describe settings that differ from the default, such as "decrypt, 4 threads"."""
    target = f"to {figure.target_name or 'another host'}" if figure.target_kind == "remote" else ""
    words = (
        "decrypt" if figure.operation == "decrypt" else "",
        f"{figure.threads} threads" if figure.threads != 1 else "",
        target,
        f"MAC {figure.mac}" if figure.mac else "",
        "compression" if figure.compression else "",
        "AES hardware disabled" if figure.acceleration == "masked" else "",
    )
    return ", ".join(filter(None, words))


def place_of(cipher: str, line: str, after: int) -> int:
    """Return the index of a cipher name in a long line, from index `after`.

    Prefer a name that is followed by a number. Return `after` if there is no name.
    """
    name = r"\W?".join(re.split(r"\W", cipher)[:2])
    for follows in (r"[\w@. -]{0,16}?\W{0,9}\d", ""):
        if match := re.compile(name + follows, re.I).search(line, after, after + SEARCHED):
            return match.start()
    return after


def shorten(line: str, place: int = 0) -> str:
    """Shorten a long line to about LINE_LENGTH characters. Keep the text around index `place`."""
    if len(line) > LINE_LENGTH:
        head, tail = LINE_LENGTH * 2 // 3, LINE_LENGTH // 3
        start = max(0, place - tail // 2)
        is_inside = head // 2 < place < len(line) - tail
        around = f"… {line[start : start + LINE_LENGTH]} …"
        line = around if is_inside else f"{line[:head]} … {line[-tail:]}"
    return line.strip().translate(CONTROL_PICTURES)


def line_ranges(numbers: Sequence[int]) -> str:
    """Format ascending line numbers as ranges, such as "1–4, 9"."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number <= ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    words = [f"{first}–{last}" if last > first else f"{first}" for first, last in ranges]
    return ", ".join([*words[:RANGES_SHOWN], "…"] if len(words) > RANGES_SHOWN else words)
