"""Files of run documents, one a line, packed or not: read line by line, whatever is in them."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

from ingest.bulk.bulk_import import Line, Refusal

STDIN = "-"
MAGIC = b"\x1f\x8b"
"""How gzip data begin."""


@dataclass
class Position:
    """How far reading has come: bytes of all files together, packed ones as they lie on disk."""

    done: int = 0
    total: int | None = None
    """None where standard input is among them."""


def positions(names: list[str]) -> Position:
    """The beginning of these files."""
    if STDIN in names:
        return Position()
    return Position(total=sum(Path(name).stat().st_size for name in names if Path(name).is_file()))


def document_lines(
    names: list[str], max_bytes: int, position: Position
) -> Iterator[Line | Refusal]:
    """Every line of the files that is not blank; a refusal where a file cannot be read on."""
    for name in names:
        begun, number = position.done, 0
        try:
            with _opened(name) as raw:
                for number, body in enumerate(_lines(_unpacked(raw), max_bytes), 1):
                    if raw.seekable():
                        position.done = begun + raw.tell()
                    if body is None or body.strip():
                        yield Line(name, number, body)
        except (OSError, EOFError, zlib.error) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            yield Refusal(Line(name, number + 1, None), f"the file cannot be read on: {why}")


def _opened(name: str) -> BufferedReader:
    return cast(BufferedReader, sys.stdin.buffer) if name == STDIN else Path(name).open("rb")


def _unpacked(raw: BufferedReader) -> IO[bytes]:
    packed = raw.peek(len(MAGIC)).startswith(MAGIC)
    return cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw


def _lines(stream: IO[bytes], max_bytes: int) -> Iterator[bytes | None]:
    """Each line without its end; None for one of more than `max_bytes`, which is not kept."""
    while line := stream.readline(max_bytes + 1):
        if line.endswith(b"\n") or len(line) <= max_bytes:
            yield line.rstrip(b"\r\n")
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(max_bytes + 1)
        yield None
