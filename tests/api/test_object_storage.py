"""Exports in object storage (a real server that speaks S3): every machine makes and serves them."""

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone

from config.object_storage import storages
from monitoring.checks.servers import files as files_check
from reports import export_files, export_jobs
from reports.export_jobs import delete_job, make
from reports.tasks import sweep_exports
from store.models import ExportJob
from tests.conftest import ApiClient, Bucket, StoreRun
from tests.launch.tools import free_port
from tests.sample_documents import run_document, ssh_measurement

JOBS = "/api/v1/exports/jobs/"


@pytest.fixture
def site(bucket: Bucket, store_run: StoreRun) -> Bucket:
    """A run of two measurements on a site with object storage."""
    store_run(run_document(ssh_measurement("aes128-ctr", 1e8), ssh_measurement("3des-cbc", 2e7)))
    return bucket


def made(client: Client, query: str = "kind=measurements") -> dict[str, Any]:
    asked = client.post(f"{JOBS}?{query}").json()
    make(ExportJob.objects.get(job_id=asked["job_id"]).pk)
    state: dict[str, Any] = client.get(asked["url"]).json()
    return state


def test_a_file_that_one_machine_made_another_one_gives(site: Bucket, reader: ApiClient) -> None:
    folder = site.on_machine("worker") / "exports"
    state = made(reader)
    assert state["status"] == "ready", state
    assert site.names() == [f"site-1/exports/{state['job_id']}.csv"]
    assert list(folder.iterdir()) == []
    site.on_machine("web")
    answer = reader.get(state["file_url"])
    assert answer.status_code == 302
    with urlopen(answer["Location"]) as file:
        content, headers = file.read(), file.headers
    assert content == reader.get("/api/v1/exports/measurements.csv").getvalue()
    assert len(content) == state["size_bytes"]
    assert headers["Content-Type"].startswith("text/csv")
    assert 'attachment; filename="ciphermark-measurements-20' in headers["Content-Disposition"]
    part = Request(answer["Location"], headers={"Range": "bytes=10-19"})
    with urlopen(part) as file:
        assert (file.status, file.read()) == (206, content[10:20])


def test_what_expires_or_belongs_to_nobody_goes_and_nothing_else(
    site: Bucket, reader: ApiClient
) -> None:
    kept, old = made(reader), made(reader, "kind=samples")
    others = ["site-1/exports/notes.txt", "site-1/backup.dump", f"{uuid4()}.csv"]
    site.put(*others, f"site-1/exports/{uuid4()}.csv")
    early = timezone.now() - timedelta(seconds=1)
    ExportJob.objects.filter(job_id=old["job_id"]).update(expires_at=early)
    sweep_exports()
    assert sorted(site.names()) == sorted([*others, f"site-1/exports/{kept['job_id']}.csv"])
    assert reader.delete(kept["url"]).status_code == 204
    assert sorted(site.names()) == sorted(others)


def test_what_is_deleted_while_it_is_brought_there_leaves_nothing(
    site: Bucket, reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete_meanwhile(job: ExportJob, alive: Callable[[], None]) -> None:
        export_files.keep(job, alive)
        delete_job(job)

    monkeypatch.setattr(export_jobs, "keep", delete_meanwhile)
    asked = reader.post(f"{JOBS}?kind=measurements").json()
    make(ExportJob.objects.get().pk)
    assert reader.get(asked["url"]).status_code == 404
    assert site.names() == []


def test_a_lost_object_is_a_404(site: Bucket, reader: ApiClient) -> None:
    state = made(reader)
    site.remove(*site.names())
    answer = reader.get(state["file_url"])
    assert answer.status_code == 404
    assert "ask for it again" in answer.json()["errors"][0]["detail"]


def test_an_object_storage_that_is_away_is_told_and_loses_nothing(
    site: Bucket, reader: ApiClient
) -> None:
    state = made(reader)
    away = site.url.replace(site.server, f"http://127.0.0.1:{free_port()}")
    folder = site.on_machine("web", away) / "exports"
    reader.raise_request_exception = False
    begun = time.monotonic()
    answer = reader.get(state["file_url"])
    assert (answer.status_code, "Retry-After" in answer) == (503, True)
    assert "object storage" in answer.json()["errors"][0]["detail"]
    assert time.monotonic() - begun < 30
    failed = made(reader, "kind=samples")
    assert failed["failure"].startswith("The object storage did not take the file")
    assert list(folder.iterdir()) == []
    assert reader.delete(state["url"]).status_code == 503
    assert (files_check().state, "endpoint" in files_check().found) == ("wrong", True)
    site.on_machine("web")
    with urlopen(reader.get(state["file_url"])["Location"]) as file:
        assert len(file.read()) == state["size_bytes"]
    assert files_check().state == "ok"
    assert site.names() == [f"site-1/exports/{state['job_id']}.csv"]


def test_a_bucket_that_is_none_is_named(bucket: Bucket, db: None) -> None:
    bucket.on_machine("web", bucket.url.replace(bucket.name, "no-such-bucket"))
    found = files_check()
    assert (found.state, "NoSuchBucket" in found.found) == ("wrong", True)
    assert Bucket.SECRET not in f"{found}"


@pytest.mark.parametrize(
    ("url", "key", "secret", "words"),
    (
        ("http://bucket", "", "", "must be s3://BUCKET"),
        ("s3://", "", "", "must be s3://BUCKET"),
        ("s3://key:word@bucket", "", "", "CIPHERMARK_STORAGE_KEY"),
        ("s3://bucket?endpiont=https://a", "", "", "'endpiont'"),
        ("s3://bucket?endpoint=minio:9000", "", "", "must begin with https://"),
        ("s3://bucket?addressing=dns", "", "", "auto, path, virtual"),
        ("s3://bucket", "key", "", "belong together"),
        ("", "key", "secret", "CIPHERMARK_STORAGE_URL is not"),
    ),
)
def test_an_address_that_is_none_is_refused_at_the_start(
    url: str, key: str, secret: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        storages(url, key, secret, tmp_path)
    assert words in str(refused.value)
    assert "word@" not in str(refused.value)
