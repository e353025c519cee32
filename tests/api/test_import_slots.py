"""Texts being read: one of each token or person, two of a process; others come back later."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from access.import_slots import AT_ONCE, ImportsBusy, import_slot
from access.request_counts import _outage, only_one
from access.tokens import create_token
from ingest.arrival.importing import SMALL
from pages.upload.receiving import pack
from parsers import reader_process
from store.models import ApiToken, ImportedText
from tests.api.test_imports import LOOP, send
from tests.conftest import ApiClient
from tests.pages.conftest import text_of

pytestmark = pytest.mark.usefixtures("nobody_counted")


def refused(client: ApiClient, **query: Any) -> str:
    answer = client.post(
        "/api/v1/imports/", LOOP.encode(), content_type="text/plain", query_params=query
    )
    assert answer.status_code == 429
    assert 1 <= int(answer["Retry-After"]) <= 10
    (error,) = answer.json()["errors"]
    assert error["code"] == "throttled"
    detail: str = error["detail"]
    return detail


def test_a_token_has_one_text_read_at_a_time(uploader: ApiClient) -> None:
    own = f"token:{ApiToken.objects.get().pk}"
    with import_slot(own):
        assert "Another text of yours is being read." in refused(uploader, preview="1")
        assert "Another text of yours is being read." in refused(uploader)
        other = ApiClient(create_token("another", "upload"))
        send(other, LOOP, expect=200, preview=1)
    with only_one("import", own, 60):
        assert "Another text of yours" in refused(uploader), "in another process"
    assert not ImportedText.objects.exists()
    send(uploader, LOOP)
    send(uploader, "nothing here", expect=400)
    send(uploader, LOOP, expect=200)


def test_a_process_reads_two_texts_at_a_time(uploader: ApiClient) -> None:
    with ExitStack() as taken:
        for number in range(AT_ONCE):
            taken.enter_context(import_slot(f"token:{-1 - number}"))
        assert "The server is reading other texts." in refused(uploader)
        with pytest.raises(ImportsBusy):
            taken.enter_context(import_slot("token:-9"))
    send(uploader, LOOP)


def test_signed_in_people_wait_for_their_turn_too(editor: Client) -> None:
    fields = {"packed": pack(LOOP.encode()), "host-0": "attic"}
    with import_slot(f"person:{User.objects.get().pk}"):
        for address, sent in (("/upload/", {"text": LOOP}), ("/upload/save/", fields)):
            answer = editor.post(address, sent)
            assert answer.status_code == 429
            assert 1 <= int(answer["Retry-After"]) <= 10
            assert "Another text of yours is being read." in text_of(answer.content.decode())
        assert editor.get("/upload/").status_code == 200
    assert editor.post("/upload/save/", fields).status_code == 302


def test_without_redis_texts_are_read_two_at_a_time(
    uploader: ApiClient, settings: Settings
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    try:
        with import_slot(f"token:{ApiToken.objects.get().pk}"), import_slot("token:-1"):
            assert "The server is reading other texts." in refused(uploader)
        send(uploader, LOOP)
    finally:
        _outage.until = 0.0


LONG = LOOP * (SMALL // len(LOOP) + 1)


def test_a_long_text_is_read_in_a_process_of_its_own(
    uploader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = send(uploader, LONG, expect=200, preview=1)["documents"]
    monkeypatch.setattr("ingest.arrival.importing.SMALL", len(LONG))
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("a process"))
    here = send(uploader, LONG, expect=200, preview=1)["documents"]
    assert here[0]["measurements"] == documents[0]["measurements"]


@pytest.mark.parametrize("failure", ("slow", "killed", "not to be started"))
def test_a_process_that_does_not_read_loses_no_text(
    uploader: ApiClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failure: str
) -> None:
    if failure == "slow":
        monkeypatch.setattr(reader_process, "SECONDS", 0.001)
    else:
        program = tmp_path / "python"
        program.write_text("#!/bin/sh\nkill -9 $$\n")
        program.chmod(0o755 if failure == "killed" else 0o644)
        monkeypatch.setattr("sys.executable", str(program))
    answer = send(uploader, LONG)
    assert answer["runs"] == []
    assert [one["code"] for one in answer["warnings"]] == ["parser_failed"]
    assert answer["unrecognised_count"] == LONG.count("\n")
    assert ImportedText.objects.get().parser_version == ImportedText.UNREAD
