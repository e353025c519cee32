"""Does the data set agree with the program? Some runs are processed again and compared."""

import json
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from django.db import transaction

from documents.validation import validate_run_document
from ingest.arrival.acceptance import content_digest
from ingest.edits.recompute import forget_derived
from ingest.processing.run_processing import process_run
from store.models import Run
from store.run_documents import document_bytes
from tests.bench.fleet.documents import AGENT_NAME
from tests.bench.fleet.prototypes import DERIVED
from tests.bench.fleet.size import SEED

Rows = list[tuple[tuple[str, str], ...]]

NEW_EACH_TIME = {"id", "attempts"}
"""Columns that may differ: serial numbers, and how often processing was begun."""


def disagreements(count: int) -> list[str]:
    """Of `count` random runs, those of which the program makes other rows than are stored."""
    generated = Run.objects.filter(status=Run.Status.READY, agent_name=AGENT_NAME)
    keys = list(generated.values_list("pk", flat=True))
    chosen = Random(SEED).sample(sorted(keys), min(count, len(keys)))
    return [fault for pk in chosen for fault in (*_document_faults(pk), *_row_faults(pk))]


def _document_faults(pk: int) -> list[str]:
    stored = Run.objects.select_related("document").get(pk=pk).document
    document = json.loads(document_bytes(stored))
    faults = [f"run {pk}: {fault.path} {fault.detail}" for fault in validate_run_document(document)]
    if content_digest(document) != stored.content_digest:
        faults.append(f"run {pk}: the digest of its document differs")
    return faults


def _row_faults(pk: int) -> list[str]:
    """Process one run again; nothing of it stays."""
    with transaction.atomic():
        before = _rows_of(pk)
        _process_again(pk)
        after = _rows_of(pk)
        transaction.set_rollback(True)
    return [f"run {pk}: rows of {name} differ" for name in before if before[name] != after[name]]


def _process_again(pk: int) -> None:
    run = Run.objects.get(pk=pk)
    hidden = run.hidden
    forget_derived(run)
    run.host = run.environment = None
    run.acceleration, run.acceleration_evidence, run.hidden = "unknown", "", False
    run.save()
    process_run(pk)
    run.refresh_from_db()
    Run.objects.filter(pk=pk).update(hidden=hidden)


def _rows_of(pk: int) -> Mapping[str, Rows]:
    """Table -> the rows that come from a run."""
    derived = {
        model._meta.db_table: _sorted(model._default_manager.filter(run_id=pk).values())
        for model in DERIVED
    }
    return {**derived, "runs_run": _sorted(Run.objects.filter(pk=pk).values())}


def _sorted(rows: Iterable[Mapping[str, Any]]) -> Rows:
    return sorted(
        tuple(
            sorted((name, repr(value)) for name, value in row.items() if name not in NEW_EACH_TIME)
        )
        for row in rows
    )
