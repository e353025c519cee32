import gzip
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from typing import IO, Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DataError, transaction
from django.utils import timezone

from cipherspeed.validation import InvalidDocument, checked_document
from core.site_command import SiteCommand
from runs.acceptance import RunConflict, create_run
from runs.models import Run
from runs.processing import derive_run

REPORT_EVERY = 1000
FAULTS_NAMED = 3


class Refused(Exception):
    pass


class Command(SiteCommand):
    help = (
        "Store and process run documents: one JSON document per line, optionally compressed with "
        "gzip. Skips stored runs, so an interrupted command can be repeated. Exits with status 1 "
        "if a line was rejected."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "files", nargs="+", metavar="FILE", help="File, or - for standard input."
        )

    def handle(self, *, files: list[str], **_: Any) -> None:
        done: Counter[str] = Counter()
        for name in files:
            number = 0
            try:
                for number, line in enumerate(_lines(name), 1):
                    if line.strip():
                        done[self._load(f"{name}:{number}", line)] += 1
                    if number % REPORT_EVERY == 0:
                        self.stderr.write(f"{name}: {number} lines")
            except (OSError, EOFError) as error:
                raise CommandError(
                    f"{name}, line {number + 1}: cannot read the file ({error})."
                ) from None
        self.stdout.write(
            f"{done['stored']} runs stored, {done['known']} already stored,"
            f" {done['refused']} lines rejected."
        )
        if done["refused"]:
            sys.exit(1)

    def _load(self, place: str, line: bytes) -> str:
        try:
            return "stored" if load_run(line) else "known"
        except Refused as refusal:
            # Escape terminal control sequences.
            self.stderr.write(f"{place}: {ascii(str(refusal))[1:-1]}")
            return "refused"


def _lines(name: str) -> Iterator[bytes]:
    """Yield each line of a plain or gzipped file. Truncate lines that exceed the maximum size."""
    most = settings.RUN_DOCUMENT_MAX_BYTES + 2
    with sys.stdin.buffer if name == "-" else open(name, "rb") as raw:
        is_packed = raw.peek(2).startswith(b"\x1f\x8b")  # type: ignore[union-attr]
        stream: IO[bytes] = gzip.GzipFile(fileobj=raw) if is_packed else raw  # type: ignore[assignment]
        while line := stream.readline(most):
            rest = line
            while len(rest) == most and not rest.endswith(b"\n"):
                rest = stream.readline(most)
            yield line


@transaction.atomic
def load_run(line: bytes) -> bool:
    """Store and process a document. Return False if the document is already stored.

    Raise `Refused` for an invalid document.
    """
    body = line.rstrip(b"\r\n")
    if len(body) > settings.RUN_DOCUMENT_MAX_BYTES:
        raise Refused(f"the document exceeds {settings.RUN_DOCUMENT_MAX_BYTES} bytes")
    try:
        document = checked_document(body, timezone.now())
        run, created = create_run(body, document, source=Run.Source.AGENT)
        if created and (run := derive_run(run.pk)).status == Run.Status.REJECTED:
            raise Refused(run.rejection)
    except InvalidDocument as error:
        named = [f"{fault.path or 'the document'}: {fault.detail}" for fault in error.faults]
        raise Refused("; ".join(named[:FAULTS_NAMED])) from None
    except DataError as error:
        raise Refused(str(error)) from None
    except RunConflict:
        raise Refused("this run_id is already stored with different content") from None
    return created
