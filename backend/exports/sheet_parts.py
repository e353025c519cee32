"""A workbook put together with rows of measurements that are XML already.

XlsxWriter makes every part of the workbook but these rows, which would take it twenty times as
long: the database writes them (`runs.queries.export_formats`) and they are only compressed here.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile

from exports.workbook import Contents, measurement_sheets

COMPRESSION = 1
"""Of zlib: a third larger than its best, many times as fast."""

Rows = Iterator[tuple[bytes, int]]


@dataclass(frozen=True)
class Frame:
    """A worksheet's XML without rows of data: what comes before them and after them."""

    member: str
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Skeleton:
    """A written workbook, its sheets of measurements and the number of each column's style."""

    path: Path
    frames: tuple[Frame, ...]
    styles: tuple[str, ...]


_ROW_END = b"</row>"
_ROW = re.compile(rb'<row r="2".*?</row>', re.DOTALL)
_STYLE = re.compile(rb'<c r="[A-Z]+2" s="(\d+)"')
_SHEET = re.compile(rb'<sheet name="([^"]+)" sheetId="(\d+)"')
_DIMENSION = re.compile(rb"<dimension [^>]*/>")


def skeleton(path: Path, contents: Contents) -> Skeleton:
    """The parts of the workbook that `write_workbook` wrote."""
    frames, styles = [], ()
    with ZipFile(path) as parts:
        sheets = dict(_SHEET.findall(parts.read("xl/workbook.xml")))
        for name in measurement_sheets(contents):
            member = f"xl/worksheets/sheet{sheets[name.encode()].decode()}.xml"
            xml = parts.read(member)
            sample = _ROW.search(xml)
            if sample is None:
                raise ValueError(f"{member} has no row of styles")
            styles = tuple(number.decode() for number in _STYLE.findall(sample[0]))
            # Readers take the stated dimension for the truth; without it they look themselves.
            before = _DIMENSION.sub(b"", xml[: sample.start()])
            frames.append(Frame(member, before, xml[sample.end() :]))
    return Skeleton(path, tuple(frames), styles)


def assemble(
    parts: Skeleton, rows: Rows, sheet_rows: Sequence[int], out: BinaryIO
) -> Iterator[int]:
    """Write the whole workbook; yields how many rows are in it so far."""
    ours = {frame.member for frame in parts.frames}
    with ZipFile(parts.path) as source, ZipFile(out, "w", ZIP_DEFLATED, True, COMPRESSION) as book:
        for member in source.infolist():
            if member.filename not in ours:
                with source.open(member) as read, book.open(member.filename, "w") as written:
                    shutil.copyfileobj(read, written)
        done, rest = 0, (b"", 0)
        for frame, expected in zip(parts.frames, sheet_rows, strict=True):
            with closing(book.open(frame.member, "w")) as sheet:
                sheet.write(frame.before)
                left = expected
                while left and (chunk := rest if rest[1] else next(rows, None)):
                    fitting, rest = _divided(chunk, left)
                    sheet.write(fitting[0])
                    left -= fitting[1]
                    done += fitting[1]
                    yield done
                sheet.write(frame.after)


def _divided(chunk: tuple[bytes, int], most: int) -> tuple[tuple[bytes, int], tuple[bytes, int]]:
    """The first `most` rows of a chunk, and the others."""
    text, number = chunk
    if number <= most:
        return chunk, (b"", 0)
    # No text of a cell has this end, whose first character it cannot have unescaped.
    *first, after = text.split(_ROW_END, most)
    return (b"".join(one + _ROW_END for one in first), most), (after, number - most)
