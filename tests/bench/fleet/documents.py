"""Run documents as an agent would send them, put together from parts that are made once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from documents.json_text import canonical_json
from documents.run_document import SCHEMA
from tests.bench.fleet.bodies import Kind, measurements
from tests.bench.fleet.plan import Plan, PlannedRun

AGENT_NAME = "ciphermark-agent"

_PLACE = "@measurements@"
_QUOTED_PLACE = json.dumps(_PLACE).encode()


@dataclass(frozen=True)
class Document:
    """The bytes of a document, and the digest of its content that the program would store."""

    body: bytes
    digest: str


@cache
def _texts(kind: Kind) -> tuple[bytes, bytes]:
    """The measurements of a kind as sent, and in canonical form."""
    made = measurements(kind)
    return json.dumps(made).encode(), canonical_json(made)


def without_measurements(plan: Plan, run: PlannedRun) -> dict[str, Any]:
    """The document of a planned run, its measurements left empty."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "run_id": str(run.run_id),
        "agent": {"name": AGENT_NAME, "version": "1.0.0"},
        "started_at": f"{run.started_at:%Y-%m-%dT%H:%M:%SZ}",
        "finished_at": f"{run.finished_at:%Y-%m-%dT%H:%M:%SZ}",
        "host": {"name": run.host.name, "machine_id": run.host.machine_id},
        "tags": run.host.tags,
        "environment": {**plan.environment(run.surroundings), "load_average": [run.load] * 3},
        "conditions": [],
        "measurements": [],
        "skipped": [],
    }
    return document if run.dated else {**document, "times_of": "import"}


def document_of(plan: Plan, run: PlannedRun) -> Document:
    """The document of a planned run."""
    return assembled(without_measurements(plan, run), run.host.kind)


def assembled(document: Mapping[str, Any], kind: Kind) -> Document:
    """A document with the measurements of a kind."""
    sent, canonical = _texts(kind)
    marked = {**document, "measurements": _PLACE}
    content = canonical_json(marked).replace(_QUOTED_PLACE, canonical, 1)
    body = json.dumps(marked).encode().replace(_QUOTED_PLACE, sent, 1)
    return Document(body, sha256(content).hexdigest())
