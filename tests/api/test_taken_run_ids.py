"""A run_id that an import needs and another upload has: 409 that names the run, never a 500."""

from typing import Any
from unittest.mock import patch

import pytest
from django.test import Client
from django.utils import timezone

from pages.upload.receiving import pack
from parsers.read_text import HowToRead, read_text
from parsers.types import Reading
from store.models import ImportedText, Run
from tests.api.test_failing_parsers import failing_reparse
from tests.api.test_imports import LOOP, TABLE, send
from tests.conftest import ApiClient
from tests.pages.conftest import text_of
from tests.sample_documents import run_document

DD = """\
$ dd if=/dev/zero bs=1M count=100 | ssh -c aes128-ctr localhost 'cat > /dev/null'
104857600 bytes (105 MB) copied, 0.5 s, 210 MB/s
"""
"""Has bytes and seconds, so that its document can be uploaded."""


@pytest.fixture
def _one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents of texts without a date state when they were made."""
    now = timezone.now()
    monkeypatch.setattr("ingest.arrival.importing.timezone.now", lambda: now)


def previewed(client: Client, text: str) -> dict[str, Any]:
    document: dict[str, Any] = send(client, text, expect=200, preview=1)["documents"][0]
    return document


@pytest.mark.usefixtures("_one_moment")
def test_a_preview_that_was_uploaded_as_a_run_is_named_by_the_import(uploader: ApiClient) -> None:
    document = previewed(uploader, DD)
    assert uploader.upload(document).status_code == 202
    (error,) = send(uploader, DD, expect=409)["errors"]
    assert document["run_id"] in error["detail"]
    assert not ImportedText.objects.exists()
    assert Run.objects.count() == 1


@pytest.mark.parametrize("text", (LOOP, TABLE, DD), ids=("list", "table", "dd"))
def test_an_import_whose_run_id_was_uploaded_before_names_that_run(
    uploader: ApiClient, text: str
) -> None:
    document = previewed(uploader, text)
    assert uploader.upload(run_document(run_id=document["run_id"])).status_code == 202
    for _ in range(2):
        (error,) = send(uploader, text, expect=409)["errors"]
        assert error["code"] == "conflict"
        assert document["run_id"] in error["detail"]
    assert not ImportedText.objects.exists()
    Run.objects.all().delete()
    answer = send(uploader, text)
    assert answer["run_id"] == document["run_id"]


def test_a_text_of_several_runs_is_stored_with_all_of_them_or_not_at_all(
    uploader: ApiClient,
) -> None:
    documents = send(uploader, TABLE + LOOP, expect=200, preview=1)["documents"]
    assert len(documents) == 2
    uploader.upload(run_document(run_id=documents[1]["run_id"]))
    send(uploader, TABLE + LOOP, expect=409)
    assert Run.objects.count() == 1
    assert not ImportedText.objects.exists()


def test_the_page_names_the_run_and_leads_to_it(uploader: ApiClient, editor: Client) -> None:
    run_id = send(uploader, LOOP, 200, preview=1, host="attic")["documents"][0]["run_id"]
    uploader.upload(run_document(run_id=run_id))
    fields = {"packed": pack(LOOP.encode()), "host-0": "attic"}
    answer = editor.post("/upload/save/", fields)
    assert answer.status_code == 409
    html = answer.content.decode()
    assert f"The run {run_id} is stored already, and not by this import." in text_of(html)
    assert f'href="/runs/{run_id}/"' in html


def test_reparsing_names_the_run_and_goes_on_with_the_next_text(uploader: ApiClient) -> None:
    documents = send(uploader, TABLE + LOOP, expect=200, preview=1)["documents"]

    def read_first(text: str, how: HowToRead) -> Reading:
        reading = read_text(text, how)
        return Reading(reading.format, reading.sections[:1], (), ())

    with patch("ingest.arrival.importing.read_text", read_first):
        first = send(uploader, TABLE + LOOP)
        send(uploader, "\n" + TABLE + LOOP)
    ImportedText.objects.update(parser_version=1)
    uploader.upload(run_document(run_id=documents[1]["run_id"]))
    said, faults = failing_reparse()
    assert said.startswith("1 text read again")
    assert "1 added" in said
    assert faults == (
        f"Text {first['import_id']}: The run {documents[1]['run_id']} is stored already, "
        "and not by this import.\n"
    )
