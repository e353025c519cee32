"""A workbook put together with rows that are XML already.

XlsxWriter makes every part of the workbook but the rows of its tables, which would take it ten to
twenty times as long, and reads text between `<r>` and `</r>` as markup: the database writes those
of measurements (`reports.rows.export_formats`), `sheet_rows` the others.
"""

import math
import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from exports.columns import Column
from exports.csv_dialect import for_cell
from exports.workbook import Table

Rows = Iterator[tuple[bytes, int]]
"""Chunks of XML, each with the number of rows in it."""

EMPTY = "<c/>"
CHUNK_CHARACTERS = 64 * 1024
FIRST_DATE = datetime(1900, 3, 1, tzinfo=UTC)
"""Spreadsheets know a day before it that never was."""

_DAY_NOUGHT = datetime(1899, 12, 30, tzinfo=UTC)
_SPOKEN_FOR = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


def xml_text(text: str) -> str:
    """A text within an element; "_x0041_", which spreadsheets read as "A", stays what it is."""
    return _SPOKEN_FOR.sub("_x005F_", escape(for_cell(text), {"\r": "&#13;"}))


def sheet_rows(
    columns: Sequence[Column], styles: Sequence[str], lines: Iterable[Iterable[Any]]
) -> Rows:
    """The lines as rows, chunk by chunk; a value that is the one above is not written anew."""
    kinds = [column.kind for column in columns]
    above: list[Any] = [None] * len(kinds)
    cells = [EMPTY] * len(kinds)
    made: list[str] = []
    size = 0
    for line in lines:
        for place, value in enumerate(line):
            if value is not above[place]:
                above[place], cells[place] = value, _cell(kinds[place], styles[place], value)
        row = f"<row>{''.join(cells)}</row>"
        made.append(row)
        size += len(row)
        if size >= CHUNK_CHARACTERS:
            yield "".join(made).encode(), len(made)
            made, size = [], 0
    if made:
        yield "".join(made).encode(), len(made)


def _cell(kind: str, style: str, value: Any) -> str:
    """What is no possible value of a cell leaves it empty."""
    if value is None or value == "":
        return EMPTY
    if kind == "text":
        text = xml_text(str(value))
        return f'<c s="{style}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    if kind == "flag":
        return f'<c s="{style}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime):
        if value < FIRST_DATE:
            return EMPTY
        value = (value - _DAY_NOUGHT).total_seconds() / 86400
    return f'<c s="{style}"><v>{value!r}</v></c>' if math.isfinite(value) else EMPTY


COMPRESSION = 1
"""Of zlib: a third larger than its best, many times as fast."""

FILLED = 0.95
"""Of the 2 GiB of XML that a sheet has in a plain ZIP, so much is for rows. With the larger sizes
of ZIP64 a file is no longer one for every program: Excel offers to repair it, and LibreOffice 7.4
does not open it."""


class LargeSheet(Exception):
    """A sheet's rows do not fit into a plain ZIP; what was written of the workbook is of no use.

    `rows` of their length would.
    """

    def __init__(self, rows: int) -> None:
        super().__init__(f"{rows} rows fit into a sheet")
        self.rows = rows


@dataclass(frozen=True)
class Frame:
    """A worksheet's XML without rows of data: what comes before them and after them.

    `styles` are the numbers of its columns' cell styles.
    """

    member: str
    before: bytes
    after: bytes
    styles: tuple[str, ...]


@dataclass(frozen=True)
class Skeleton:
    """A written workbook, and the sheets of each of its tables.

    `styles` are those of the table that the database writes.
    """

    path: Path
    frames: tuple[tuple[Frame, ...], ...]
    styles: tuple[str, ...]


_ROW_END = b"</row>"
_ROW = re.compile(rb'<row r="2".*?</row>', re.DOTALL)
_STYLE = re.compile(rb'<c r="[A-Z]+2"(?: s="(\d+)")?')
_SHEET = re.compile(rb'<sheet name="([^"]+)" sheetId="(\d+)"')
_DIMENSION = re.compile(rb"<dimension [^>]*/>")


def skeleton(path: Path, tables: Sequence[Table]) -> Skeleton:
    """The parts of the workbook that `write_workbook` wrote."""
    with ZipFile(path) as parts:
        sheets = dict(_SHEET.findall(parts.read("xl/workbook.xml")))
        frames = tuple(
            tuple(_frame(parts, sheets[name.encode()].decode()) for name, _ in table.sheets)
            for table in tables
        )
    stored = next(place for place, table in enumerate(tables) if table.lines is None)
    return Skeleton(path, frames, frames[stored][0].styles)


def _frame(parts: ZipFile, sheet: str) -> Frame:
    member = f"xl/worksheets/sheet{sheet}.xml"
    xml = parts.read(member)
    sample = _ROW.search(xml)
    if sample is None:
        raise ValueError(f"{member} has no row of styles")
    styles = tuple(number.decode() or "0" for number in _STYLE.findall(sample[0]))
    # Readers take the stated dimension for the truth; without it they look themselves.
    before = _DIMENSION.sub(b"", xml[: sample.start()])
    return Frame(member, before, xml[sample.end() :], styles)


def assemble(
    parts: Skeleton, tables: Sequence[Table], stored: Rows, out: BinaryIO
) -> Iterator[int]:
    """Write the whole workbook; yields how many of the `stored` rows are in it so far.

    `LargeSheet` when it turns out that a sheet must have fewer rows.
    """
    ours = {frame.member for frames in parts.frames for frame in frames}
    with ZipFile(parts.path) as source, ZipFile(out, "w", ZIP_DEFLATED, True, COMPRESSION) as book:
        for member in source.infolist():
            if member.filename not in ours:
                with source.open(member) as read, book.open(member.filename, "w") as written:
                    shutil.copyfileobj(read, written)
        done = 0
        for table, frames in zip(tables, parts.frames, strict=True):
            made = table.lines
            rows = stored if made is None else sheet_rows(table.columns, frames[0].styles, made)
            for number in _written(book, frames, [one for _, one in table.sheets], rows):
                done += number if made is None else 0
                yield done


def _written(
    book: ZipFile, frames: Sequence[Frame], sizes: Sequence[int], rows: Rows
) -> Iterator[int]:
    """Write a table over its sheets; yields the number of rows with each chunk."""
    rest = (b"", 0)
    for frame, size in zip(frames, sizes, strict=True):
        with closing(book.open(frame.member, "w")) as sheet:
            sheet.write(frame.before)
            left, used = size, 0
            while left and (chunk := rest if rest[1] else next(rows, None)):
                fitting, rest = _divided(chunk, left)
                left -= fitting[1]
                used += len(fitting[0])
                _check_length(frame, used / (size - left), size)
                sheet.write(fitting[0])
                yield fitting[1]
            sheet.write(frame.after)


def _check_length(frame: Frame, row_bytes: float, rows: int) -> None:
    """Raise `LargeSheet` unless the sheet holds so many rows of the average length so far."""
    room = FILLED * zipfile.ZIP64_LIMIT - len(frame.before) - len(frame.after)
    if row_bytes * rows > room:
        raise LargeSheet(max(1, int(room / row_bytes)))


def _divided(chunk: tuple[bytes, int], most: int) -> tuple[tuple[bytes, int], tuple[bytes, int]]:
    """The first `most` rows of a chunk, and the others."""
    text, number = chunk
    if number <= most:
        return chunk, (b"", 0)
    # No text of a cell has this end, whose first character it cannot have unescaped.
    *first, after = text.split(_ROW_END, most)
    return (b"".join(one + _ROW_END for one in first), most), (after, number - most)
