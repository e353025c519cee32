"""Imported texts: read, stored verbatim with the runs made of them, and read again later."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from documents.json_text import canonical_json
from parsers.read_text import HowToRead, read_text
from parsers.received_text import received_text
from parsers.run_documents import Corrections, run_documents
from parsers.types import PARSER_VERSION, Reading, Remark, Unrecognised
from runs.acceptance import accept_run, content_digest, record_upload
from runs.derived import delete_runs, follow, pairs_of
from runs.models import ApiToken, ImportedText, Run
from runs.renewing import forget_derived
from runs.tokens import check_host

NAMESPACE = uuid5(NAMESPACE_URL, "urn:ciphermark:import")


class NoFigures(ValueError):
    """Nothing in the text is a figure of a cipher: there is no run to store."""


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

    @property
    def format(self) -> str | None:
        """Of most figures; None where there are none."""
        return self.reading.format


@dataclass(frozen=True)
class Imported:
    """A stored import; `created` is False when it was stored before."""

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
    reading = seen.reading if seen else read_text(received.text, request.how)
    moment = (now or timezone.now()).strftime("%Y-%m-%dT%H:%M:%SZ")
    made = run_documents(
        reading,
        import_id=request.import_id,
        now=moment,
        corrections=request.corrections,
        corrected=request.corrected,
    )
    return Understood(
        received.text,
        reading,
        made.documents,
        made.keys,
        reading.unrecognised,
        (*_encoding_remark(received.encoding), *reading.remarks, *made.remarks),
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

    A text whose runs have all been deleted can be imported again. Raises `NoFigures`, `NotAText`
    when the bytes are no text, and `OtherHost` when the token is bound to another host. The caller
    enqueues new runs.
    """
    now = timezone.now()
    understood = understand(request, now, seen)
    if not understood.documents:
        raise NoFigures("There is no figure of a cipher in this text.")
    for document in understood.documents:
        check_host(token, document["host"])
    with transaction.atomic():
        stored, created = ImportedText.objects.get_or_create(
            import_id=request.import_id,
            defaults={
                "body": request.body,
                "asked": request.asked,
                "format": understood.format or "",
                "sections": list(understood.sections),
                "parser_version": PARSER_VERSION,
                "received_at": now,
                "token": token,
                "person": person,
            },
        )
        created = created or not stored.runs.exists()
        if created:
            for document in understood.documents:
                _accept(document, stored)
        runs = tuple(stored.runs.select_related("document").order_by("id"))
        if created and person:
            record_upload(runs, person)
    return Imported(runs, understood, created)


def _body(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def _accept(document: dict[str, Any], stored: ImportedText) -> Run:
    accepted = accept_run(
        _body(document),
        document,
        source=Run.Source.IMPORT,
        token=stored.token,
        imported_text=stored,
    )
    return accepted.run


def _request_of(stored: ImportedText) -> ImportRequest:
    return ImportRequest(
        bytes(stored.body),
        HowToRead(**stored.asked["how"]),
        tuple(Corrections(**one) for one in stored.asked["corrections"]),
        tuple(stored.sections),
    )


@dataclass(frozen=True)
class Reparsed:
    """What reading a text again did to its runs."""

    unchanged: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0


@transaction.atomic
def reparse(text_pk: int) -> tuple[Reparsed, tuple[Run, ...]]:
    """Read a stored text with the parsers of today; the runs that have to be processed anew.

    A run whose figures changed keeps its run_id and whether it is hidden; one that no longer
    comes out is deleted: the text that it came from stays. A run that somebody deleted stays so.
    """
    stored = ImportedText.objects.select_for_update().get(pk=text_pk)
    understood = understand(_request_of(stored), stored.received_at)
    # Locked before their documents change: a worker may be deriving rows from the old ones, and a
    # reference profile that is being computed must not add what is deleted here.
    locked = stored.runs.select_for_update(of=("self",)).select_related("document")
    before = {str(run.run_id): run for run in locked.order_by("id")}
    changed, added, unchanged = [], [], 0
    for key, document in zip(understood.sections, understood.documents, strict=True):
        run = before.pop(document["run_id"], None)
        if run is None and key in stored.sections:
            continue
        if run is None:
            added.append(_accept(document, stored))
        elif run.document.content_digest == content_digest(document):
            unchanged += 1
        else:
            changed.append(_replace_document(run, document))
    delete_runs(before.values())
    follow(pairs_of(changed))
    stored.runs.update(parser_version=PARSER_VERSION)
    stored.parser_version = PARSER_VERSION
    if not stored.asked["corrections"]:
        stored.sections = list(understood.sections)
    stored.save(update_fields=["parser_version", "sections"])
    outcome = Reparsed(unchanged, len(changed), len(added), len(before))
    return outcome, (*changed, *added)


def _replace_document(run: Run, document: Mapping[str, Any]) -> Run:
    """The run as if it had just been accepted, without what was derived from its old document."""
    run.document.body = _body(document)
    run.document.content_digest = content_digest(document)
    run.document.save()
    forget_derived(run)
    run.rejection, run.attempts = "", 0
    run.host_name = document["host"]["name"]
    run.save(update_fields=["status", "rejection", "attempts", "host_name"])
    return run


def texts_to_reparse(everything: bool) -> Sequence[int]:
    """Primary keys of the texts that older parsers read; or of all."""
    texts = ImportedText.objects.order_by("id")
    if not everything:
        texts = texts.filter(parser_version__lt=PARSER_VERSION)
    return list(texts.values_list("pk", flat=True))
