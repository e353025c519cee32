"""Tables of rows and columns: the twins of the heat map and of the lines over block sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.comparison import Comparison, Group
from exports.palette import colour_slot
from pages.compare.comparison_view import ShownGroup, doubt_words
from pages.formatting import data_size, exact, quantity, quantity_range


@dataclass(frozen=True)
class Cell:
    """One figure; `spread` is its quartiles, empty for one host; `doubt` as in the table."""

    value: float
    text: str
    exact: str
    spread: str
    n: int
    doubt: str


@dataclass(frozen=True)
class Line:
    """A row: its group or its cipher, and a cell for each column, None where nothing is."""

    key: str
    label: str
    slot: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Block:
    """Rows under one heading; the heat map has one block without a group."""

    group: ShownGroup | None
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Matrix:
    """A table: columns as (key, label, colour slot), the slot empty where it is no cipher."""

    corner: str
    columns: tuple[tuple[str, str, str], ...]
    blocks: tuple[Block, ...]

    @property
    def doubts(self) -> bool:
        """Whether any figure is doubtful."""
        lines = (line for block in self.blocks for line in block.lines)
        return any(cell.doubt for line in lines for cell in line.cells if cell)


def heat_table(comparison: Comparison, groups: Sequence[Group], ciphers: Sequence[str]) -> Matrix:
    """Groups down, ciphers across."""
    return Matrix(
        "Group",
        tuple((cipher, cipher, colour_slot(cipher)) for cipher in ciphers),
        (
            Block(
                None,
                tuple(
                    Line(
                        group.key,
                        group.label,
                        "",
                        tuple(_cell(group, one, comparison.unit) for one in ciphers),
                    )
                    for group in groups
                ),
            ),
        ),
    )


def size_table(
    by_size: Mapping[int, Comparison], groups: Sequence[ShownGroup], ciphers: Sequence[str]
) -> Matrix:
    """Under each group its ciphers down, block sizes across."""
    found = {(size, group.key): group for size, one in by_size.items() for group in one.groups}
    unit = next(iter(by_size.values())).unit

    def line(group: ShownGroup, cipher: str) -> Line:
        cells = (_cell(found.get((size, group.key)), cipher, unit) for size in by_size)
        return Line(cipher, cipher, colour_slot(cipher), tuple(cells))

    return Matrix(
        "Cipher",
        tuple((str(size), data_size(size), "") for size in by_size),
        tuple(
            Block(group, tuple(one for one in lines if any(one.cells)))
            for group, lines in (
                (group, [line(group, cipher) for cipher in ciphers]) for group in groups
            )
        ),
    )


def _cell(group: Group | None, cipher: str, unit: str) -> Cell | None:
    """The group's figure; None where the group or its figure is missing."""
    if group is None or cipher not in group.values:
        return None
    summary = group.values[cipher]
    return Cell(
        summary.median,
        quantity(summary.median, unit),
        exact(summary.median, unit),
        quantity_range(summary.q1, summary.q3, unit) if summary.n > 1 else "",
        summary.n,
        doubt_words(group, cipher),
    )
