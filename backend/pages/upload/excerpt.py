"""A text with line numbers, each line marked by what was understood of it; bounded."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from parsers.lines import BOM

LINES_SHOWN = 300
LINE_LENGTH = 300
OF_EACH_KIND = 100
"""Of a long text so many lines of one kind are shown before those of the next kind."""

CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if code != 9} | {127: 0x2421}
"""A control character as its picture: a terminal's escapes, or a NUL, are seen and do nothing."""


Marks = Mapping[str, Collection[int]]
"""Line numbers by kind of mark, the kinds in the order of their importance."""


@dataclass(frozen=True)
class ShownLine:
    """A line: `mark` is figure, warned, unrecognised or "", `skipped` the lines left out before."""

    number: int
    text: str
    mark: str
    skipped: int


@dataclass(frozen=True)
class Excerpt:
    """What is shown of a text."""

    lines: tuple[ShownLine, ...]
    total: int

    @property
    def skipped_at_the_end(self) -> int:
        """Lines behind the last one that is shown."""
        return self.total - self.lines[-1].number if self.lines else self.total

    @property
    def numbers(self) -> frozenset[int]:
        """The lines that a link can lead to."""
        return frozenset(line.number for line in self.lines)


def split_lines(text: str) -> list[str]:
    """The lines of a text, numbered as `parsers.lines` numbers them; no empty one at the end."""
    return text.removeprefix(BOM).replace("\r\n", "\n").removesuffix("\n").split("\n")


def excerpt(text: str, marks: Marks) -> Excerpt:
    """The whole text, or of a long one its marked lines and their neighbours, then its start."""
    lines = split_lines(text)
    kinds = {number: kind for kind in reversed(list(marks)) for number in marks[kind]}
    shown, before = [], 0
    for number in sorted(_chosen(len(lines), marks)):
        line = lines[number - 1]
        cut = line if len(line) <= LINE_LENGTH else line[: LINE_LENGTH - 1] + "…"
        plain = cut.rstrip("\r").translate(CONTROL_PICTURES)
        shown.append(ShownLine(number, plain, kinds.get(number, ""), number - before - 1))
        before = number
    return Excerpt(tuple(shown), len(lines))


def _chosen(total: int, marks: Marks) -> Iterable[int]:
    if total <= LINES_SHOWN:
        return range(1, total + 1)
    chosen: set[int] = set()
    for number in chain(_with_neighbours(marks), range(1, total + 1)):
        if len(chosen) == LINES_SHOWN:
            break
        if 1 <= number <= total:
            chosen.add(number)
    return chosen


def _with_neighbours(marks: Marks) -> Iterator[int]:
    for numbers in marks.values():
        for number in sorted(numbers)[:OF_EACH_KIND]:
            yield from (number, number - 1, number + 1)
