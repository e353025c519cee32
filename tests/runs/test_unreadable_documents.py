import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from runs.models import Run, RunDocument
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import run_document

HUGE = "9" * 400


def with_number(number: str) -> bytes:
    document = json.dumps(run_document(tags_of_mine={"serial": 1}))
    return document.replace('"serial": 1', f'"serial": {number}').encode()


def by_api(body: bytes, uploader: ApiClient, editor: Client, folder: Path) -> str:
    answer = uploader.upload(body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["attr"] == "tags_of_mine.serial"
    return str(answer.content)


def by_page(body: bytes, uploader: ApiClient, editor: Client, folder: Path) -> str:
    file = SimpleUploadedFile("run.json", body, "application/json")
    return editor.post("/upload/", {"files": file}).content.decode()


def by_command(body: bytes, uploader: ApiClient, editor: Client, folder: Path) -> str:
    (folder / "runs.jsonl").write_bytes(body + b"\n")
    said = StringIO()
    with pytest.raises(SystemExit):
        call_command("load_runs", str(folder / "runs.jsonl"), stderr=said)
    return said.getvalue()


@pytest.mark.parametrize("upload", (by_api, by_page, by_command))
@pytest.mark.parametrize("number", (HUGE, "1e400"))
def test_a_number_that_could_not_be_written_back_is_refused_at_arrival(
    upload: Callable[..., str],
    number: str,
    uploader: ApiClient,
    editor: Client,
    tmp_path: Path,
) -> None:
    said = upload(with_number(number), uploader, editor, tmp_path)
    assert "is too large" in said
    assert "tags_of_mine.serial" in said
    assert not Run.objects.exists()


@pytest.fixture
def unreadable(store_run: StoreRun) -> Run:
    run = store_run(run_document(host={"name": "spoilt"}))
    store_run(run_document(host={"name": "behind"}))
    body = with_number("9" * 5000)
    assert RunDocument.objects.filter(run=run).update(body=body) == 1
    return run


def test_the_start_after_an_update_renews_the_others(unreadable: Run) -> None:
    Run.objects.update(derived_version=1)
    said = StringIO()
    call_command("renew_runs", stdout=said, stderr=said)
    assert "1 run was processed again" in said.getvalue()
    assert "its rows are unchanged" in said.getvalue()
    unreadable.refresh_from_db()
    assert unreadable.status == Run.Status.READY


def test_its_pages_are_shown_and_an_editor_removes_it(unreadable: Run, editor: Client) -> None:
    (other,) = Run.objects.exclude(pk=unreadable.pk)
    for address in (
        f"/hosts/{unreadable.host_id}/",
        f"/runs/{unreadable.run_id}/",
        f"/runs/{unreadable.run_id}/diff/{other.run_id}/",
        f"/api/v1/runs/{unreadable.run_id}/",
        f"/api/v1/hosts/{unreadable.host_id}/",
    ):
        assert editor.get(address).status_code == 200, address
    assert editor.delete(f"/api/v1/runs/{unreadable.run_id}/").status_code == 204
    assert not Run.objects.filter(pk=unreadable.pk).exists()
