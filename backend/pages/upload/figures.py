"""The figures of a run document as tables for the preview: block sizes side by side, bounded."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.summary import is_plausible
from documents.types import Sample

SIZES_IN_COLUMNS = 8
"""With more block sizes each figure gets a row of its own."""

TRIES_SHOWN = 5

TOOLS = ("ssh", "openssl")

Raw = Mapping[str, Any]


@dataclass(frozen=True)
class Rate:
    """One try: bytes per second, and why it cannot be true ("" when it can)."""

    bytes_per_second: float | None
    implausible: str


@dataclass(frozen=True)
class Cell:
    """The tries of one series: the first of them, and how many more there are."""

    rates: tuple[Rate, ...] = ()
    more: int = 0


@dataclass(frozen=True)
class Row:
    """A cipher in one configuration; `cells` are in the order of the table's columns."""

    cipher: str
    configuration: str
    block_size: int | None
    cells: tuple[Cell, ...]
    first_line: int | None
    last_line: int | None


@dataclass(frozen=True)
class Table:
    """The figures of one tool. Without `sizes` there is one column of rates."""

    tool: str
    sizes: tuple[int, ...]
    rows: tuple[Row, ...]
    left_out: int

    @property
    def has_configuration(self) -> bool:
        """Whether any row is more than the plain cipher."""
        return any(row.configuration for row in self.rows)

    @property
    def has_block_size(self) -> bool:
        """Whether each row names its block size."""
        return any(row.block_size for row in self.rows)

    @property
    def has_lines(self) -> bool:
        """Whether the figures come from lines of a text."""
        return any(row.first_line for row in self.rows)


def tables(measurements: Iterable[Raw], most_rows: int) -> tuple[Table, ...]:
    """A table for each tool in the measurements, together of at most `most_rows` rows."""
    by_tool: dict[str, list[Raw]] = {}
    for measurement in measurements:
        by_tool.setdefault(measurement["tool"], []).append(measurement)
    made = []
    for tool in TOOLS:
        if tool in by_tool:
            table = _table(tool, by_tool[tool], most_rows)
            most_rows -= len(table.rows)
            made.append(table)
    return tuple(made)


def _table(tool: str, measurements: Sequence[Raw], most_rows: int) -> Table:
    sizes = sorted({one["block_size"] for one in measurements if one.get("block_size")})
    columns = tuple(sizes) if len(sizes) <= SIZES_IN_COLUMNS else ()
    grouped: dict[tuple[str, str, int | None], list[Raw]] = {}
    for one in measurements:
        own_size = None if columns else one.get("block_size")
        grouped.setdefault((one["cipher"], configuration(one), own_size), []).append(one)
    shown = list(grouped.items())[:most_rows]
    rows = tuple(_row(*key, found, columns) for key, found in shown)
    return Table(tool, columns, rows, len(grouped) - len(rows))


def configuration(raw: Raw) -> str:
    """What a measurement has that the usual one has not, in words; "" for nothing."""
    target, threads = raw.get("target") or {}, raw.get("threads") or 1
    operation, method = raw.get("operation") or "encrypt", raw.get("method") or "pipeline"
    words = (
        operation if operation != "encrypt" else "",
        f"{threads} threads" if threads != 1 else "",
        method if method != "pipeline" else "",
        _target(target),
        f"MAC {raw['mac']}" if raw.get("mac") else "",
        "with compression" if raw.get("compression") else "",
        "AES instructions turned off" if raw.get("acceleration") == "masked" else "",
        "each end pinned to a core" if raw.get("pinned") else "",
    )
    return ", ".join(word for word in words if word)


def _target(target: Raw) -> str:
    if target.get("kind") != "remote":
        return ""
    return f"to {target['name']}" if target.get("name") else "to another machine"


def _row(
    cipher: str, words: str, size: int | None, found: Sequence[Raw], columns: Sequence[int]
) -> Row:
    of_column: dict[int | None, list[Rate]] = {}
    for raw in found:
        rates = of_column.setdefault(raw["block_size"] if columns else None, [])
        rates += [rate(sample, raw.get("threads") or 1) for sample in raw["samples"]]
    lines = sorted(
        sample["line"] for raw in found for sample in raw["samples"] if _has_line(sample)
    )
    cells = tuple(_cell(of_column.get(column, [])) for column in columns or (None,))
    return Row(cipher, words, size, cells, *((lines[0], lines[-1]) if lines else (None, None)))


def _has_line(sample: Raw) -> bool:
    # An uploaded document may hold a member of this name, and anything in it.
    return type(sample.get("line")) is int


def _cell(rates: Sequence[Rate]) -> Cell:
    return Cell(tuple(rates[:TRIES_SHOWN]), max(0, len(rates) - TRIES_SHOWN))


def rate(raw: Raw, threads: int) -> Rate:
    """What a sample says, and whether it can be true."""
    sample = Sample(
        bytes=raw.get("bytes"),
        seconds=raw.get("seconds"),
        bytes_per_second=raw.get("bytes_per_second"),
    )
    value = sample.throughput
    reason = raw.get("implausible") or ""
    if not isinstance(reason, str) or (not reason and not is_plausible(value, threads)):
        reason = "no machine moves data at this rate"
    return Rate(value if math.isfinite(value) and value >= 0 else None, reason)


def figure_count(documents: Iterable[Raw]) -> int:
    """Tries of all measurements of all documents."""
    return sum(len(raw["samples"]) for document in documents for raw in document["measurements"])
