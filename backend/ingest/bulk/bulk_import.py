"""Many run documents at once: what years of uploads would have stored, a batch a transaction.

They come from files, one a line, packed or not, read line by line whatever is in them.
"""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.db import (
    DataError,
    Error,
    IntegrityError,
    OperationalError,
    connection,
    transaction,
)
from django.utils import timezone

from documents.json_text import JsonError, parse_json
from documents.run_document import DocumentRejected
from documents.validation import date_faults, validate_run_document
from ingest.arrival.acceptance import NewRun, content_digest, insert_runs
from ingest.processing.id_cache import forget_everything
from ingest.processing.persist_results import DerivedRun
from ingest.processing.processing_locks import Begun
from ingest.processing.run_processing import derive, store
from store.models import Run, RunDocument

Given = TypeVar("Given", "Line", "_Candidate")
Made = TypeVar("Made")

ATTEMPTS = 3
"""Batches of two processes may wait for each other in a circle; the database then ends one."""

NAMED = 3
"""Faults of one document."""

OTHER_CONTENT = "this run_id is stored already, with other content"


@dataclass(frozen=True)
class Line:
    """One line of a file, counted from 1; `body` is None for one that is too long to be read."""

    file: str
    number: int
    body: bytes | None


@dataclass(frozen=True)
class Refusal:
    """A line that was not stored, and why."""

    line: Line
    reason: str

    def __str__(self) -> str:
        return f"{self.line.file}:{self.line.number}: {self.reason}"


@dataclass
class Loaded:
    """What became of lines: runs stored, runs that were stored before, and refusals."""

    stored: int = 0
    known: int = 0
    refused: list[Refusal] = field(default_factory=list)

    def add(self, other: "Loaded") -> None:
        """Count these too."""
        self.stored += other.stored
        self.known += other.known
        self.refused += other.refused


class _Refused(Exception):
    """The line cannot be stored; the message says why."""


@dataclass(frozen=True)
class _Candidate:
    """A line's document, of which the JSON and the run_id are known to be good."""

    line: Line
    raw: dict[str, Any]
    new: NewRun


@dataclass(frozen=True)
class _Ready:
    """A valid document with what was derived of it."""

    line: Line
    new: NewRun
    made: DerivedRun


def load_lines(lines: Sequence[Line]) -> Loaded:
    """Store the runs of these lines with all their rows, in one transaction where that goes well.

    A run that is stored already is left alone; a line with a fault is reported and keeps no
    other from being stored. The commit does not wait for the disk: a later one does (`settle`).
    """
    loaded = Loaded()
    candidates = list(_each(_candidate, lines, loaded))
    fresh = list(_fresh(candidates, loaded))
    ready = list(_each(_ready, fresh, loaded))
    # In one order of hosts, so that loads beside this one seldom wait in a circle.
    ready.sort(key=lambda one: one.made.host.known_by)
    try:
        loaded.stored += _store_patiently(ready)
    except Error:
        for one in ready:
            _store_alone(one, loaded)
    return loaded


def settle() -> None:
    """Return when what was committed before is on the disk."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_logical_emit_message(true, 'ciphermark', 'settled')")


def _each(step: Callable[[Given], Made], given: Iterable[Given], loaded: Loaded) -> Iterator[Made]:
    """What the step makes of each; lines that it refuses are noted."""
    for one in given:
        try:
            yield step(one)
        except _Refused as reason:
            line = one if isinstance(one, Line) else one.line
            loaded.refused.append(Refusal(line, str(reason)))


def _candidate(line: Line) -> _Candidate:
    if line.body is None:
        limit = settings.RUN_DOCUMENT_MAX_BYTES
        raise _Refused(f"the document is larger than {limit} bytes")
    try:
        raw = parse_json(line.body)
    except JsonError as error:
        raise _Refused(str(error)) from None
    try:
        run_id = UUID(raw["run_id"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _Refused(_faults(raw)) from None
    run = Run(run_id=run_id, source=Run.Source.AGENT)
    return _Candidate(line, raw, NewRun(run, line.body, content_digest(raw)))


def _faults(raw: Any) -> str:
    """What is wrong with a document, in words; empty when it is valid."""
    faults = validate_run_document(raw) or date_faults(raw, timezone.now())
    named = "; ".join(f"{fault.path or 'the document'}: {fault.detail}" for fault in faults[:NAMED])
    more = len(faults) - NAMED
    return f"{named}; and {more} more" if more > 0 else named


def _fresh(candidates: Sequence[_Candidate], loaded: Loaded) -> Iterator[_Candidate]:
    """Those whose run_id is neither stored nor in a line before."""
    asked = [one.new.run.run_id for one in candidates]
    stored = RunDocument.objects.filter(run__run_id__in=asked)
    digests = dict(stored.values_list("run__run_id", "content_digest"))
    for one in candidates:
        digest = digests.setdefault(one.new.run.run_id, "")
        if not digest:
            digests[one.new.run.run_id] = one.new.digest
            yield one
        elif digest == one.new.digest:
            loaded.known += 1
        else:
            loaded.refused.append(Refusal(one.line, OTHER_CONTENT))


def _ready(one: _Candidate) -> _Ready:
    faults = _faults(one.raw)
    if faults:
        raise _Refused(faults)
    one.new.run.host_name = one.raw["host"]["name"].strip()
    # Another object: that which is stored first is only accepted.
    run = Run(run_id=one.new.run.run_id, source=one.new.run.source)
    try:
        return _Ready(one.line, one.new, derive(Begun(run, "", one.new.digest), one.raw))
    except DocumentRejected as reason:
        raise _Refused(str(reason)) from None


def _store_patiently(ready: Sequence[_Ready]) -> int:
    for _ in range(ATTEMPTS - 1):
        with suppress(OperationalError):
            return _store(ready)
    return _store(ready)


def _store(ready: Sequence[_Ready]) -> int:
    """Store these runs and their rows, all or none; returns how many were not stored before."""
    with transaction.atomic():
        inserted = {new.run.run_id: new.run.pk for new in insert_runs([one.new for one in ready])}
        made = [one.made for one in ready if one.new.run.run_id in inserted]
        for one in made:
            one.run.pk = inserted[one.run.run_id]
        if made:
            store(made)
    return len(made)


def _store_alone(one: _Ready, loaded: Loaded) -> None:
    """Store what could not be stored with others; a database that is gone is nobody's fault."""
    try:
        loaded.stored += _store_patiently([one])
    except (DataError, IntegrityError) as error:
        forget_everything()
        loaded.refused.append(Refusal(one.line, f"it cannot be stored: {error}"))


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
