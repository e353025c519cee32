import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from accounts.audit import Subject, by_person, record
from accounts.models import ApiToken
from cipherspeed.json_text import canonical_json
from runs.models import ImportedText, Run, RunDocument
from runs.tasks import process_run
from texts.types import PARSER_VERSION


class RunConflict(Exception):
    pass


class Accepted(NamedTuple):
    run: Run
    created: bool


def content_digest(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical_json(document)).hexdigest()


@transaction.atomic
def create_run(
    body: bytes,
    document: Mapping[str, Any],
    *,
    source: str,
    token: ApiToken | None = None,
    imported_text: ImportedText | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Accepted:
    """Store a valid document as received, unless the document is already stored.

    Raise `RunConflict` if a stored run has this run_id but different content.
    """
    fields = {
        "source": source,
        "token": token,
        "host_name": document["host"]["name"].strip(),
        "imported_text": imported_text,
        "parser_version": PARSER_VERSION if imported_text else None,
        "provenance": provenance or {},
    }
    run, created = Run.objects.get_or_create(run_id=UUID(document["run_id"]), defaults=fields)
    digest = content_digest(document)
    if created:
        RunDocument.objects.create(run=run, body=body, content_digest=digest)
    elif run.document.content_digest != digest:
        raise RunConflict
    return Accepted(run, created)


def accept_run(body: bytes, document: Mapping[str, Any], **fields: Any) -> Accepted:
    """Store a document with `create_run`. Queue a new run for processing after the commit.

    If the broker is unavailable, `runs.tasks.queue_waiting_runs` queues the run later.
    """
    accepted = create_run(body, document, **fields)
    if accepted.created:
        transaction.on_commit(lambda: process_run.delay(accepted.run.pk), robust=True)
    return accepted


def record_upload(runs: Sequence[Run], person: User) -> None:
    """Record an upload by a signed-in user in the audit log.

    Uploads with an API token need no entry, because each run refers to the token.
    """
    first, count = runs[0], len(runs)
    more = f" and {count - 1} more" if count > 1 else ""
    name = f"{first.host_name}, run {first.run_id}{more}"
    stored = [{"run_id": run.run_id, "host_name": run.host_name} for run in runs]
    subject = Subject("run", first.run_id, name)
    record(by_person(person), "run.upload", subject, after={"runs": stored})
