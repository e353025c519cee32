"""Taking a document in: stored durably and verbatim before anybody is told "accepted"."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from documents.json_text import canonical_json
from parsers.types import PARSER_VERSION
from runs.models import ApiToken, ImportedText, Run, RunDocument


class RunConflict(Exception):
    """This run_id is stored already, with other content."""


@dataclass(frozen=True)
class Acceptance:
    """The stored run, and whether this call stored it."""

    run: Run
    created: bool


def content_digest(document: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of the canonical JSON: the same content sent twice is the same run."""
    return hashlib.sha256(canonical_json(document)).hexdigest()


def accept_run(
    body: bytes,
    document: Mapping[str, Any],
    *,
    source: str,
    token: ApiToken | None = None,
    provenance: Mapping[str, Any] | None = None,
    imported_text: ImportedText | None = None,
) -> Acceptance:
    """Store a valid document, `body` being its bytes as received; committed when this returns.

    Sent again with the same content it is not stored twice; `RunConflict` when the run_id is
    taken by other content. An imported run's document is what the parsers made of its text.
    """
    digest = content_digest(document)
    with transaction.atomic():
        run, created = Run.objects.get_or_create(
            run_id=UUID(document["run_id"]),
            defaults={
                "source": source,
                "token": token,
                "host_name": document["host"]["name"].strip(),
                "provenance": dict(provenance or {}),
                "imported_text": imported_text,
                "parser_version": PARSER_VERSION if imported_text else None,
            },
        )
        if created:
            RunDocument.objects.create(run=run, body=body, content_digest=digest)
    if not created and run.document.content_digest != digest:
        raise RunConflict
    return Acceptance(run, created)
