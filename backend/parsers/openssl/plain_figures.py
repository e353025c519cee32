"""Figures without a k: plain bytes per second, if they can be what `openssl speed` prints.

The tool prints 10,000 bytes per second and less without a k, and so does whoever types ratios,
or megabytes, into a table of that shape.
"""

from collections.abc import Iterator, Sequence

from parsers.openssl.tables import Cell, Row

SLOWEST_BLOCK = 10.0
"""Seconds that a block takes at most: a measurement of 3 s counts at least one whole block."""
STEEPEST = 4.0
"""How much more the rate may rise than the block size does: it cannot rise more, but for noise."""


def is_plain(cell: Cell) -> bool:
    """Whether a cell has a rate that was printed without a k."""
    return cell.rate is not None and not cell.text.endswith("k")


def has_thousands(row: Row) -> bool:
    """Whether a row has a rate with a k."""
    return any(cell.rate is not None and cell.text.endswith("k") for cell in row.cells)


def without_doubtful(
    row: Row, blocks: Sequence[int | None], table_has_thousands: bool
) -> tuple[Cell, ...]:
    """The cells of a row; those without a k that may be something else have the fault `no_k`."""
    believed = _believed(row, blocks, table_has_thousands)
    return tuple(
        cell._replace(rate=None, fault="no_k") if is_plain(cell) and not sound else cell
        for cell, sound in zip(row.cells, believed, strict=True)
    )


def _believed(row: Row, blocks: Sequence[int | None], table: bool) -> Iterator[bool]:
    """Whether each cell, if it is plain, can be bytes per second."""
    if has_thousands(row):
        for cell, block in zip(row.cells, blocks, strict=True):
            yield _fits(cell, block, row, blocks)
        return
    possible = all(
        block is not None and block <= SLOWEST_BLOCK * (cell.rate or 0)
        for cell, block in zip(row.cells, blocks, strict=True)
        if is_plain(cell)
    )
    yield from [table and possible] * len(row.cells)


def _fits(plain: Cell, block: int | None, row: Row, blocks: Sequence[int | None]) -> bool:
    """Whether the rates of larger blocks are not far more than this one allows."""
    if plain.rate is None or block is None:
        return False
    return not any(
        cell.rate is not None
        and other is not None
        and other > block
        and cell.rate > STEEPEST * plain.rate * other / block
        for cell, other in zip(row.cells, blocks, strict=True)
    )
