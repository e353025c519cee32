"""Imported texts: read, and stored verbatim with the runs made of them."""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, get_args
from uuid import NAMESPACE_URL, UUID, uuid5

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from access.audit import Subject, by_person, record
from access.tokens import check_host
from documents.json_text import canonical_json
from ingest.arrival.acceptance import RunConflict, accept_run, record_upload
from parsers.guard import Guard
from parsers.read_text import HowToRead, Unit, read_text
from parsers.reader_process import read_in_process
from parsers.received_text import received_text
from parsers.run_documents import Corrections, Documents, run_documents
from parsers.types import PARSER_VERSION, Format, ParserFailure, Reading, Remark, Unrecognised
from store.models import ApiToken, ImportedText, Run

logger = logging.getLogger(__name__)

SMALL = 4_096
"""Characters of a text that is read here: reading it costs no more than the upload of a run."""

FORMATS: tuple[str, ...] = get_args(Format)
UNITS: tuple[str, ...] = get_args(Unit)
MOST_BYTES = 2**60

CIPHER_CHARACTERS = 100

FACTS = {"host": 160, "cpu": 200, "os": 200, "openssl": 200}
"""What a reader may say of the machine, with its longest text."""

NAMESPACE = uuid5(NAMESPACE_URL, "urn:ciphermark:import")


class NoFigures(ValueError):
    """Nothing in the text is a figure of a cipher: there is no run to store."""


class RunTaken(Exception):
    """The run_id of one of a text's runs belongs to a run that did not come from this import."""

    def __init__(self, run_id: UUID) -> None:
        super().__init__(f"The run {run_id} is stored already, and not by this import.")
        self.run_id = run_id


@dataclass(frozen=True)
class ImportRequest:
    """A text as it came, how to read it, and what the reader says of its machines."""

    body: bytes
    how: HowToRead
    corrections: tuple[Corrections, ...] = ()
    corrected: tuple[str, ...] = ()
    """Keys of the sections that the corrections belong to; empty: to all in order."""

    @property
    def asked(self) -> dict[str, Any]:
        """All but the text, as it is stored."""
        return {"how": asdict(self.how), "corrections": [asdict(one) for one in self.corrections]}

    @property
    def import_id(self) -> UUID:
        """The same text with the same answers is the same import."""
        asked = hashlib.sha256(canonical_json(self.asked)).hexdigest()
        return uuid5(NAMESPACE, f"{hashlib.sha256(self.body).hexdigest()} {asked}")


@dataclass(frozen=True)
class Understood:
    """What was understood of a text, nothing stored yet."""

    text: str
    reading: Reading
    documents: tuple[dict[str, Any], ...]
    sections: tuple[str, ...]
    """Keys of the documents' sections."""
    unrecognised: tuple[Unrecognised, ...]
    warnings: tuple[Remark, ...]
    failures: tuple[ParserFailure, ...]

    @property
    def parser_version(self) -> int:
        """Of the parsers that read the text whole; `ImportedText.UNREAD` when one failed."""
        return ImportedText.UNREAD if self.failures else PARSER_VERSION

    @property
    def format(self) -> str | None:
        """Of most figures; None where there are none."""
        return self.reading.format


@dataclass(frozen=True)
class Imported:
    """A stored import; `created` is False when it was stored before.

    There are no `runs` where a parser failed and the others found nothing.
    """

    import_id: UUID
    runs: tuple[Run, ...]
    understood: Understood
    created: bool


def understand(
    request: ImportRequest, now: datetime | None = None, seen: Understood | None = None
) -> Understood:
    """Read a text; `NotAText` (a ValueError) when the bytes are none.

    `seen`: what was understood of the same text read the same way, so that it is not read twice.
    """
    received = received_text(request.body)
    reading = seen.reading if seen else _read(received.text, request.how)
    guard = Guard()
    made = guard.run("run documents", lambda: _documents(reading, request, now), NO_DOCUMENTS)
    understood = Understood(
        received.text,
        reading,
        made.documents,
        made.keys,
        reading.unrecognised,
        (
            *_encoding_remark(received.encoding),
            *reading.remarks,
            *made.remarks,
            *(failure.remark for failure in guard.failures),
        ),
        (*reading.failures, *guard.failures),
    )
    for failure in understood.failures:
        told = (failure.parser, request.import_id, failure.traceback)
        logger.error("The parser of %s failed on the text %s:\n%s", *told)
    return understood


def _read(text: str, how: HowToRead) -> Reading:
    return read_text(text, how) if len(text) <= SMALL else read_in_process(text, how)


NO_DOCUMENTS = Documents((), (), ())


def _documents(reading: Reading, request: ImportRequest, now: datetime | None) -> Documents:
    return run_documents(
        reading,
        import_id=request.import_id,
        now=(now or timezone.now()).strftime("%Y-%m-%dT%H:%M:%SZ"),
        corrections=request.corrections,
        corrected=request.corrected,
    )


def _encoding_remark(encoding: str) -> tuple[Remark, ...]:
    if encoding != "latin-1":
        return ()
    return (Remark(1, "encoding", "The text is not UTF-8; it was read as Latin-1."),)


def store_import(
    request: ImportRequest,
    *,
    token: ApiToken | None = None,
    person: User | None = None,
    seen: Understood | None = None,
) -> Imported:
    """Store the text and a run for each of its sections, all or nothing.

    A text whose runs have all been deleted can be imported again. A text that a parser failed on
    is stored even without a run, for `reparse_runs`. Raises `NoFigures`, `NotAText` when the bytes
    are no text, `OtherHost` when the token is bound to another host, and `RunTaken`. The caller
    enqueues new runs.
    """
    now = timezone.now()
    understood = understand(request, now, seen)
    if not understood.documents and not understood.failures:
        raise NoFigures("No cipher results found.")
    for document in understood.documents:
        check_host(token, document["host"])
    with transaction.atomic():
        stored, is_new = _stored_text(request, understood, now, token, person)
        created = is_new or (bool(understood.documents) and not stored.runs.exists())
        if created:
            for document in understood.documents:
                accept_document(document, stored)
        if created and not is_new:
            ImportedText.objects.filter(pk=stored.pk).update(**_as_read(understood))
        runs = tuple(stored.runs.select_related("document").order_by("id"))
        if created and person:
            _record(request.import_id, runs, person)
    return Imported(request.import_id, runs, understood, created)


def _stored_text(
    request: ImportRequest,
    understood: Understood,
    now: datetime,
    token: ApiToken | None,
    person: User | None,
) -> tuple[ImportedText, bool]:
    """The stored text, locked, and whether it is new."""
    return ImportedText.objects.select_for_update(of=("self",)).get_or_create(
        import_id=request.import_id,
        defaults={
            "body": request.body,
            "asked": request.asked,
            "received_at": now,
            "token": token,
            "person": person,
            **_as_read(understood),
        },
    )


def _as_read(understood: Understood) -> dict[str, Any]:
    """What is stored of a reading beside its runs."""
    return {
        "format": understood.format or "",
        "sections": list(understood.sections),
        "parser_version": understood.parser_version,
    }


def _record(import_id: UUID, runs: tuple[Run, ...], person: User) -> None:
    if runs:
        record_upload(runs, person)
    else:
        subject = Subject("text", import_id, f"text {import_id}, not read yet")
        record(by_person(person), "run.upload", subject, after={"runs": []})


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """A document as it is stored."""
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def accept_document(document: dict[str, Any], stored: ImportedText) -> Run:
    """Store a run of an imported text; `RunTaken` when there is another under its run_id."""
    try:
        accepted = accept_run(
            document_bytes(document),
            document,
            source=Run.Source.IMPORT,
            token=stored.token,
            imported_text=stored,
        )
    except RunConflict:
        raise RunTaken(UUID(document["run_id"])) from None
    if not accepted.created:
        raise RunTaken(accepted.run.run_id)
    return accepted.run
