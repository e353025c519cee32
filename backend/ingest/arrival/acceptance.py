"""Taking a document in: stored durably and verbatim before anybody is told "accepted"."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Field

from access.audit import Subject, by_person, record
from documents.json_text import canonical_json
from store.models import ApiToken, ImportedText, Run
from texts.types import PARSER_VERSION


class RunConflict(Exception):
    """This run_id is stored already, with other content."""


@dataclass(frozen=True)
class Acceptance:
    """The stored run, and whether this call stored it."""

    run: Run
    created: bool


class NewRun(NamedTuple):
    """What an accepted document becomes: a run, the bytes as received, and `content_digest`."""

    run: Run
    body: bytes
    digest: str


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
    taken by other content. An imported run's document is made of its text.
    """
    run = Run(
        run_id=UUID(document["run_id"]),
        source=source,
        token=token,
        host_name=document["host"]["name"].strip(),
        provenance=dict(provenance or {}),
        imported_text=imported_text,
        parser_version=PARSER_VERSION if imported_text else None,
    )
    new = NewRun(run, body, content_digest(document))
    if insert_runs([new]):
        return Acceptance(run, True)
    stored = Run.objects.select_related("document").get(run_id=run.run_id)
    if stored.document.content_digest != new.digest:
        raise RunConflict
    return Acceptance(stored, False)


def record_upload(runs: Sequence[Run], person: User) -> None:
    """What somebody has just stored, in the audit log; programs are known by their runs' token."""
    first, count = runs[0], len(runs)
    more = f" and {count - 1} more" if count > 1 else ""
    name = f"{first.host_name}, run {first.run_id}{more}"
    stored = [{"run_id": run.run_id, "host_name": run.host_name} for run in runs]
    subject = Subject("run", first.run_id, name)
    record(by_person(person), "run.upload", subject, after={"runs": stored})


def insert_runs(new: Sequence[NewRun]) -> list[NewRun]:
    """Store runs with their documents, and give them their keys; returns those that are new.

    One statement, so one round trip and, outside of a transaction, one commit. No run_id twice.
    """
    if not new:
        return []
    parameters: list[Any] = []
    for one in new:
        parameters += _values(one.run)
    for one in new:
        parameters += [one.run.run_id, one.body, one.digest]
    with connection.cursor() as cursor:
        cursor.execute(_insertion(len(new)), parameters)
        keys: dict[UUID, int] = dict(cursor.fetchall())
    for one in new:
        one.run.pk = keys.get(one.run.run_id)
        one.run._state.adding = one.run.pk is None
    return [one for one in new if one.run.pk is not None]


@cache
def _run_fields() -> "tuple[Field[Any, Any], ...]":
    return tuple(one for one in Run._meta.concrete_fields if not one.primary_key)


_OF_A_NEW_RUN = frozenset(
    (
        "run_id",
        "source",
        "received_at",
        "token",
        "host_name",
        "imported_text",
        "parser_version",
        "provenance",
    )
)
"""Fields that accepting sets; all others have their defaults until the run is processed."""


def _values(run: Run) -> list[Any]:
    """What the database gets for `_run_fields`."""
    return [
        field.get_db_prep_save(field.pre_save(run, True), connection)
        if field.name in _OF_A_NEW_RUN
        else default
        for field, default in _defaults()
    ]


@cache
def _defaults() -> "tuple[tuple[Field[Any, Any], Any], ...]":
    """Preparing thirty values of each upload takes longer than storing them."""
    return tuple(
        (field, field.get_db_prep_save(field.get_default(), connection)) for field in _run_fields()
    )


@cache
def _insertion(count: int) -> str:
    """The statement for so many runs; parameters: the runs' fields, then what documents need."""
    names = ", ".join(f'"{field.column}"' for field in _run_fields())
    run = f"({', '.join(['%s'] * len(_run_fields()))})"
    documents = ", ".join(["(%s::uuid, %s::bytea, %s)"] * count)
    return f"""
    WITH new AS (
        INSERT INTO runs_run ({names}) VALUES {", ".join([run] * count)}
        ON CONFLICT (run_id) DO NOTHING RETURNING run_id, id
    ), documents AS (
        INSERT INTO runs_rundocument (run_id, body, content_digest)
        SELECT new.id, sent.body, sent.digest
        FROM new JOIN (VALUES {documents}) AS sent (run_id, body, digest) USING (run_id)
    )
    SELECT run_id, id FROM new
    """  # noqa: S608 - names of columns
