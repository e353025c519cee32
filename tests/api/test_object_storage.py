"""Exports in object storage (a real server that speaks S3): every machine makes and serves them."""

import os
import time
from datetime import timedelta
from pathlib import Path
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import storages as django_storages
from django.utils import timezone
from pytest_django.fixtures import Settings

from access import export_quota
from config.analytics import clickhouse_url, snapshots_url
from config.object_storage import storages
from monitoring.checks.servers import files as files_check
from reports import export_files, export_jobs
from reports.export_jobs import delete_job, make
from reports.tasks import sweep_exports
from store.models import ExportJob
from tests.api.test_export_jobs import asked, made
from tests.conftest import LONG, ApiClient, Bucket, StoreRun
from tests.launch.tools import free_port, within
from tests.sample_documents import run_document, ssh_measurement


@pytest.fixture
def site(bucket: Bucket, store_run: StoreRun) -> Bucket:
    """A run of two measurements on a site with object storage."""
    store_run(run_document(ssh_measurement("aes128-ctr", 1e8), ssh_measurement("3des-cbc", 2e7)))
    return bucket


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
    headed = reader.head(state["file_url"])
    with urlopen(Request(headed["Location"], method="HEAD")) as file:
        assert int(file.headers["Content-Length"]) == len(content)
    part = Request(answer["Location"], headers={"Range": "bytes=10-19"})
    with urlopen(part) as file:
        assert (file.status, file.read()) == (206, content[10:20])


def test_what_expires_or_belongs_to_nobody_goes_and_nothing_else(
    site: Bucket, reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, old = made(reader), made(reader, "kind=samples")
    foreign = f"site-1/exports/{uuid4()}.csv"
    others = ["site-1/exports/notes.txt", "site-1/backup.dump", f"{uuid4()}.csv"]
    site.put(*others, foreign)
    early = timezone.now() - timedelta(seconds=1)
    ExportJob.objects.filter(job_id=old["job_id"]).update(expires_at=early)
    sweep_exports()
    ours = f"site-1/exports/{kept['job_id']}.csv"
    assert sorted(site.names()) == sorted([*others, foreign, ours]), "it may be another site's"
    for limit in ("KEPT", "SPARE"):
        monkeypatch.setattr(export_files, limit, timedelta(0))
    sweep_exports()
    assert sorted(site.names()) == sorted([*others, ours])
    assert reader.delete(kept["url"]).status_code == 204
    assert sorted(site.names()) == sorted(others)


def test_files_of_the_time_before_there_was_object_storage_go(
    site: Bucket, reader: ApiClient
) -> None:
    folder = site.on_machine("web", "") / "exports"
    state = made(reader)
    (left,) = folder.iterdir()
    site.on_machine("web")
    assert reader.get(state["file_url"]).status_code == 404
    os.utime(left, (0, 0))
    sweep_exports()
    assert not left.exists()


def test_what_is_deleted_while_it_is_brought_there_leaves_nothing(
    site: Bucket, reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete_meanwhile(job: ExportJob) -> None:
        export_files.keep(job)
        delete_job(job)

    monkeypatch.setattr(export_jobs, "keep", delete_meanwhile)
    address = asked(reader)["url"]
    make(ExportJob.objects.get().pk)
    assert reader.get(address).status_code == 404
    assert site.names() == []


def test_a_maker_is_alive_however_long_the_file_takes_to_be_brought_there(
    site: Bucket, reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep_slowly(job: ExportJob) -> None:
        cache.delete(job.pulse_key)
        assert within(LONG, lambda: cache.get(job.pulse_key) is not None)
        export_files.keep(job)

    monkeypatch.setattr(export_jobs, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(export_jobs, "keep", keep_slowly)
    assert made(reader)["status"] == "ready"


def test_a_lost_object_is_a_404(site: Bucket, reader: ApiClient) -> None:
    state = made(reader)
    site.remove(*site.names())
    answer = reader.get(state["file_url"])
    assert answer.status_code == 404
    assert "ask for it again" in answer.json()["errors"][0]["detail"]


def test_an_object_storage_that_is_away_is_told_and_loses_nothing(
    site: Bucket, reader: ApiClient, monkeypatch: pytest.MonkeyPatch
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
    page = reader.get(state["file_url"], headers={"accept": "text/html,*/*;q=0.8"})
    assert (page.status_code, page["Retry-After"]) == (503, "10")
    assert page["Content-Type"].startswith("text/html")
    said = page.content.decode()
    assert "The object storage cannot be used just now" in said
    assert "manage.py doctor" in said
    failed = made(reader, "kind=samples")
    assert failed["failure"].startswith("The object storage did not take the file")
    assert list(folder.iterdir()) == []
    assert reader.delete(state["url"]).status_code == 503
    waiting = asked(reader, "kind=measurements&host=a")
    begun = time.monotonic()
    assert reader.delete(waiting["url"]).status_code == 204, "there is nothing of it yet"
    assert time.monotonic() - begun < 2
    monkeypatch.setattr(export_quota, "MOST_KEPT", 0)
    assert asked(reader, "kind=samples"), "the old one stays meanwhile"
    monkeypatch.undo()
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
        ("s3://", "", "", "has a bucket of 3 to 63"),
        ("s3://Bucket_", "", "", "has a bucket of 3 to 63"),
        ("s3://bucket:80", "", "", "has a bucket of 3 to 63"),
        ("s3://bucket/a//b", "", "", "has a bucket of 3 to 63"),
        ("s3://bucket/../b", "", "", "has a bucket of 3 to 63"),
        ("s3://bucket/a/.", "", "", "has a bucket of 3 to 63"),
        ("s3://bucket/a?region=b#c", "", "", "must be s3://BUCKET"),
        ("s3://key:word@bucket", "", "", "CIPHERMARK_STORAGE_KEY"),
        ("s3://bucket?endpiont=https://a", "", "", "'endpiont'"),
        ("s3://bucket?region=a&region=b", "", "", "twice"),
        ("s3://bucket?endpoint=minio:9000", "", "", "must be https://"),
        ("s3://bucket?endpoint=https://key:word@minio", "", "", "must be https://"),
        ("s3://bucket?endpoint=https://min io", "", "", "must be https://"),
        ("s3://bucket?endpoint=http://my_minio:9000", "", "", "letters, digits, dots"),
        ("s3://bucket?endpoint=http://-minio", "", "", "letters, digits, dots"),
        ("s3://bucket?region=", "", "", "region must be"),
        ("s3://bucket", "a\nb", "c", "line break"),
        ("s3://bucket?endpoint=https://minio:http", "", "", "must be s3://BUCKET"),
        ("s3://bucket?endpoint=http://[::1", "", "", "must be s3://BUCKET"),
        ("s3://bucket?addressing=auto", "", "", "path, virtual"),
        ("s3://bucket", "key", "", "belong together"),
        ("", "key", "secret", "CIPHERMARK_STORAGE_URL is not"),
        ("", "", "secret", "CIPHERMARK_STORAGE_SECRET is set"),
    ),
)
def test_an_address_that_is_none_is_refused_at_the_start(
    url: str, key: str, secret: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        storages(url, key, secret, tmp_path)
    assert words in str(refused.value)
    assert "word@" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    (
        "duckdb",
        "s3://bucket",
        "clickhouse://ciphermark:word@house:8123",
        "clickhouse://ciphermark:word@house:8123/a-b",
        "clickhouse://ciphermark:word@my_house/site",
        "clickhouse:///site",
        "https://house:8443/site",
        "clickhouse://house/site?secure=1",
    ),
)
def test_an_engine_that_is_none_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="must be duckdb:") as refused:
        clickhouse_url(url)
    assert "word@" not in str(refused.value)


def test_an_engine_is_one_of_three(tmp_path: Path) -> None:
    for house in ("clickhouse://u:p%40@house:8123/site", "clickhouses://[::1]/a_1"):
        assert clickhouse_url(house) == house
    assert clickhouse_url("duckdb:") == clickhouse_url("duckdb+s3://a") == snapshots_url("") == ""
    with pytest.raises(ImproperlyConfigured, match="CIPHERMARK_ANALYTICS_URL, after duckdb"):
        storages("", "", "", tmp_path, snapshots_url("duckdb+s3://a?endpoint=b"))


@pytest.mark.parametrize(
    ("url", "address"),
    (
        ("s3://box?region=eu-central-1", "https://box.s3.eu-central-1.amazonaws.com/exports/a.csv"),
        ("s3://my.box?region=eu-west-1", "https://s3.eu-west-1.amazonaws.com/my.box/exports/a.csv"),
        ("s3://box/a?endpoint=http://[::1]:9000", "http://[::1]:9000/box/a/exports/a.csv"),
        (
            "s3://box/a/b/?endpoint=https://minio&addressing=virtual",
            "https://box.minio/a/b/exports/a.csv",
        ),
    ),
)
def test_addresses_are_those_that_the_service_signs_for(
    url: str, address: str, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-other-keys")
    settings.STORAGES = {**settings.STORAGES, **storages(url, "key", "secret", tmp_path)}
    signed = django_storages["exports"].url("a.csv")
    assert signed.partition("?")[0] == address
    assert "of-other-keys" not in signed
