"""A workbook put together with rows that are XML already.

XlsxWriter makes every part of the workbook but the rows of its tables, which would take it
twenty times as long: the database writes those of measurements (`reports.rows.export_formats`),
`exports.sheet_rows` the others, and here they are only compressed.
"""

import re
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile

from exports.sheet_rows import Rows, sheet_rows
from exports.workbook import Table

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
