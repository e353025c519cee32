import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction

from cipherspeed.run_document import SCHEMA
from runs.acceptance import content_digest, create_run
from runs.models import Run
from runs.processing import derive_run
from runs.recompute import delete_runs

NAMESPACE = uuid5(NAMESPACE_URL, "urn:ciphermark:published")
PROVENANCE = ("page", "command", "timing", "notes", "has_aes", "has_aes_basis")


@dataclass(frozen=True)
class Loaded:
    """Count loaded runs, unchanged runs, and results without a cipher name, which are skipped."""

    loaded: int
    unchanged: int
    nameless: int


def _published_runs() -> list[dict[str, Any]]:
    text = resources.files("runs").joinpath("data/published.json").read_text("utf-8")
    runs: list[dict[str, Any]] = json.loads(text)["runs"]
    return runs


def _date(page: Mapping[str, Any]) -> str | None:
    return f"{page['date']}T00:00:00Z" if page["date"] else None


def _document(entry: Mapping[str, Any]) -> dict[str, Any]:
    date = _date(entry["page"])
    return {
        "schema": SCHEMA,
        "run_id": str(uuid5(NAMESPACE, entry["id"])),
        "agent": {"name": "published", "version": None},
        "started_at": date,
        "finished_at": date,
        "host": {"name": entry["host"], "machine_id": None},
        "environment": entry["environment"],
        "measurements": [figure for figure in entry["measurements"] if figure["cipher"]],
    }


def _load(document: Mapping[str, Any], provenance: Mapping[str, Any]) -> bool:
    """Store and process a published run. Return False if an equal run is already stored."""
    runs = Run.objects.select_related("document")
    stored = runs.filter(run_id=document["run_id"]).first()
    if stored is not None and stored.document.content_digest == content_digest(document):
        changed = dict(stored.provenance) != dict(provenance)
        stored.provenance = dict(provenance)
        stored.save(update_fields=["provenance"])
        return changed
    hidden = stored is not None and stored.hidden
    if stored is not None:
        delete_runs([stored])
    body = json.dumps(document, ensure_ascii=False, indent=1).encode()
    accepted = create_run(body, document, source=Run.Source.PUBLISHED, provenance=provenance)
    # Hidden runs remain hidden when their results are corrected.
    Run.objects.filter(pk=accepted.run.pk).update(hidden=hidden)
    derive_run(accepted.run.pk)
    return True


@transaction.atomic
def load_published() -> Loaded:
    """Load new published results, and replace runs whose results were corrected."""
    loaded = unchanged = nameless = 0
    for entry in _published_runs():
        document = _document(entry)
        nameless += len(entry["measurements"]) - len(document["measurements"])
        if not document["measurements"]:
            continue
        if _load(document, {name: entry[name] for name in PROVENANCE}):
            loaded += 1
        else:
            unchanged += 1
    return Loaded(loaded, unchanged, nameless)
