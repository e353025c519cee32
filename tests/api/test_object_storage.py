"""Exports in object storage (a real server that speaks S3): every machine makes and serves them."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import boto3
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone
from moto.server import ThreadedMotoServer
from pytest_django.fixtures import Settings

from config.object_storage import export_storage
from monitoring.checks.servers import files as files_check
from reports import export_files, export_jobs
from reports.export_jobs import delete_job, make
from reports.tasks import sweep_exports
from store.models import ExportJob
from tests.conftest import ApiClient, StoreRun
from tests.launch.tools import free_port
from tests.sample_documents import run_document, ssh_measurement

BUCKET = "ciphermark"
KEY, SECRET = "key-of-tests", "secret-of-tests"
JOBS = "/api/v1/exports/jobs/"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Its address."""
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=free_port(), verbose=False)
    moto.start()
    yield f"http://127.0.0.1:{moto.get_host_and_port()[1]}"
    moto.stop()


@pytest.fixture
def bucket(server: str) -> Iterator[Any]:
    """An empty one."""
    client = boto3.client(
        "s3",
        endpoint_url=server,
        region_name="us-east-1",
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
    )
    client.create_bucket(Bucket=BUCKET)
    yield client
    for one in client.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        client.delete_object(Bucket=BUCKET, Key=one["Key"])
    client.delete_bucket(Bucket=BUCKET)


@pytest.fixture
def on_machine(tmp_path: Path, settings: Settings) -> Callable[[str, str], Path]:
    """Go on as a machine with a folder of its own and this object storage."""

    def go_on(name: str, url: str) -> Path:
        folder = tmp_path / name
        settings.EXPORTS_DIR = folder
        settings.CIPHERMARK_STORAGE_URL = url
        stored = export_storage(url, KEY, SECRET, folder)
        settings.STORAGES = {**settings.STORAGES, "exports": stored}
        return folder

    return go_on


@pytest.fixture
def site(
    server: str, bucket: Any, on_machine: Callable[[str, str], Path], store_run: StoreRun
) -> str:
    """A run of two measurements on a site with object storage; its address."""
    store_run(run_document(ssh_measurement("aes128-ctr", 1e8), ssh_measurement("3des-cbc", 2e7)))
    url = f"s3://{BUCKET}/site-1?endpoint={server}&region=us-east-1"
    on_machine("web", url)
    return url


def keys(bucket: Any) -> list[str]:
    return [one["Key"] for one in bucket.list_objects_v2(Bucket=BUCKET).get("Contents", ())]


def made(client: Client, query: str = "kind=measurements") -> dict[str, Any]:
    asked = client.post(f"{JOBS}?{query}").json()
    make(ExportJob.objects.get(job_id=asked["job_id"]).pk)
    state: dict[str, Any] = client.get(asked["url"]).json()
    return state


def test_a_file_that_one_machine_made_another_one_gives(
    site: str, bucket: Any, reader: ApiClient, on_machine: Callable[[str, str], Path]
) -> None:
    folder = on_machine("worker", site)
    state = made(reader)
    assert state["status"] == "ready", state
    assert keys(bucket) == [f"site-1/exports/{state['job_id']}.csv"]
    assert list(folder.iterdir()) == []
    on_machine("web", site)
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
    site: str, bucket: Any, reader: ApiClient
) -> None:
    kept, old = made(reader), made(reader, "kind=samples")
    others = ["site-1/exports/notes.txt", "site-1/backup.dump", f"{uuid4()}.csv"]
    for key in (*others, f"site-1/exports/{uuid4()}.csv"):
        bucket.put_object(Bucket=BUCKET, Key=key, Body=b"x")
    early = timezone.now() - timedelta(seconds=1)
    ExportJob.objects.filter(job_id=old["job_id"]).update(expires_at=early)
    sweep_exports()
    assert sorted(keys(bucket)) == sorted([*others, f"site-1/exports/{kept['job_id']}.csv"])
    assert reader.delete(kept["url"]).status_code == 204
    assert sorted(keys(bucket)) == sorted(others)


def test_what_is_deleted_while_it_is_brought_there_leaves_nothing(
    site: str, bucket: Any, reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete_meanwhile(job: ExportJob, alive: Callable[[], None]) -> None:
        export_files.keep(job, alive)
        delete_job(job)

    monkeypatch.setattr(export_jobs, "keep", delete_meanwhile)
    asked = reader.post(f"{JOBS}?kind=measurements").json()
    make(ExportJob.objects.get().pk)
    assert reader.get(asked["url"]).status_code == 404
    assert keys(bucket) == []


def test_a_lost_object_is_a_404(site: str, bucket: Any, reader: ApiClient) -> None:
    state = made(reader)
    bucket.delete_object(Bucket=BUCKET, Key=keys(bucket)[0])
    answer = reader.get(state["file_url"])
    assert answer.status_code == 404
    assert "ask for it again" in answer.json()["errors"][0]["detail"]


def test_an_object_storage_that_is_away_is_told_and_loses_nothing(
    site: str, bucket: Any, reader: ApiClient, on_machine: Callable[[str, str], Path]
) -> None:
    state = made(reader)
    away = f"s3://{BUCKET}/site-1?endpoint=http://127.0.0.1:{free_port()}&region=us-east-1"
    folder = on_machine("web", away)
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
    on_machine("web", site)
    with urlopen(reader.get(state["file_url"])["Location"]) as file:
        assert len(file.read()) == state["size_bytes"]
    assert files_check().state == "ok"
    assert keys(bucket) == [f"site-1/exports/{state['job_id']}.csv"]


def test_a_bucket_that_is_none_is_named(
    server: str, on_machine: Callable[[str, str], Path], db: None
) -> None:
    on_machine("web", f"s3://no-such-bucket?endpoint={server}&region=us-east-1")
    found = files_check()
    assert (found.state, "NoSuchBucket" in found.found) == ("wrong", True)
    assert SECRET not in f"{found}"


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
        export_storage(url, key, secret, tmp_path)
    assert words in str(refused.value)
    assert "word@" not in str(refused.value)
