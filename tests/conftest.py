"""What tests of every part share: people, tokens, stored runs."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from runs.acceptance import accept_run
from runs.models import Run
from runs.processing import process_run
from runs.published import load_published
from runs.tokens import create_token

StoreRun = Callable[..., Run]


class ApiClient(Client):
    """Django's client, sending one token with every request."""

    def __init__(self, token: str) -> None:
        super().__init__(headers={"authorization": f"Bearer {token}"})

    def upload(self, document: Any, **extra: Any) -> Any:
        """POST a run document."""
        body = document if isinstance(document, (bytes, str)) else json.dumps(document)
        return self.post("/api/v1/runs/", body, content_type="application/json", **extra)


@pytest.fixture
def uploader(db: None) -> ApiClient:
    """A client with an upload token."""
    return ApiClient(create_token("agent", "upload"))


@pytest.fixture
def reader(db: None) -> ApiClient:
    """A client with a read token."""
    return ApiClient(create_token("report", "read"))


@pytest.fixture
def store_run(db: None) -> StoreRun:
    """Store a document and turn it into rows, as upload and worker do together."""

    def store(document: dict[str, Any], source: str = "agent") -> Run:
        body = json.dumps(document).encode()
        run = accept_run(body, document, source=source).run
        process_run(run.pk)
        run.refresh_from_db()
        return run

    return store


@pytest.fixture
def published(db: None) -> None:
    """The published data set."""
    load_published()
