"""Parse stored texts again after a parser changed, and recompute their runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from access.tokens import OtherHost, check_host
from ingest.arrival.acceptance import content_digest
from ingest.arrival.importing import (
    ImportRequest,
    RunTaken,
    Understood,
    accept_document,
    document_bytes,
    understand,
)
from ingest.edits.recompute import delete_runs, forget_derived, pairs_of, recompute_for
from parsers.read_text import HowToRead
from parsers.received_text import NotAText
from parsers.run_documents import Corrections
from parsers.types import PARSER_VERSION
from store.models import ImportedText, Run


class NotReparsed(Exception):
    """A text that could not be read again, and why; it and its runs are as they were."""


@dataclass(frozen=True)
class Reparsed:
    """What reading a text again did to its runs."""

    unchanged: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0


def reparse(text_pk: int) -> tuple[Reparsed, tuple[Run, ...]]:
    """Parse a stored text with the current parsers; return the runs to process again.

    A run whose figures changed keeps its run_id and whether it is hidden; one that no longer
    comes out is deleted: the text that it came from stays. A run that somebody deleted stays so.
    All or nothing: `NotReparsed` when a parser fails, or when what is found may not be stored.
    """
    try:
        with transaction.atomic():
            return _reparse(ImportedText.objects.select_for_update().get(pk=text_pk))
    except (_ParserFailed, NotAText, RunTaken) as error:
        reason = str(error)
    except OtherHost as error:
        reason = error.sentence
    import_id = ImportedText.objects.values_list("import_id", flat=True).get(pk=text_pk)
    raise NotReparsed(f"Text {import_id}: {reason}")


class _ParserFailed(Exception):
    """What a failed parser found before must not be taken for what no longer comes out."""


def _reparse(stored: ImportedText) -> tuple[Reparsed, tuple[Run, ...]]:
    understood = understand(_request_of(stored), stored.received_at)
    if understood.failures:
        raise _ParserFailed(understood.failures[0].remark.detail)
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
            check_host(stored.token, document["host"])
            added.append(accept_document(document, stored))
        elif run.document.content_digest == content_digest(document):
            unchanged += 1
        else:
            changed.append(_replace_document(run, document))
    delete_runs(before.values())
    recompute_for(pairs_of(changed))
    _mark_as_read(stored, understood)
    outcome = Reparsed(unchanged, len(changed), len(added), len(before))
    return outcome, (*changed, *added)


def _request_of(stored: ImportedText) -> ImportRequest:
    return ImportRequest(
        bytes(stored.body),
        HowToRead(**stored.asked["how"]),
        tuple(Corrections(**one) for one in stored.asked["corrections"]),
        tuple(stored.sections),
    )


def _replace_document(run: Run, document: Mapping[str, Any]) -> Run:
    """The run as if it had just been accepted, without what was derived from its old document."""
    run.document.body = document_bytes(document)
    run.document.moved = run.document.environment = None
    run.document.content_digest = content_digest(document)
    run.document.save()
    forget_derived(run)
    run.rejection, run.attempts = "", 0
    run.host_name = document["host"]["name"]
    run.save(update_fields=["status", "rejection", "attempts", "host_name"])
    return run


def _mark_as_read(stored: ImportedText, understood: Understood) -> None:
    stored.runs.update(parser_version=PARSER_VERSION)
    stored.parser_version = PARSER_VERSION
    stored.format = understood.format or ""
    if not (stored.asked["corrections"] and stored.sections):
        stored.sections = list(understood.sections)
    stored.save(update_fields=["parser_version", "format", "sections"])


def texts_to_reparse(everything: bool) -> Sequence[int]:
    """Primary keys of the texts that older parsers read, or failed to read; or of all."""
    texts = ImportedText.objects.order_by("id")
    if not everything:
        texts = texts.filter(parser_version__lt=PARSER_VERSION)
    return list(texts.values_list("pk", flat=True))
