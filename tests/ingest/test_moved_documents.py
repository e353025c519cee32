"""Documents that are old lie in object storage (a real server that speaks S3): nobody notices."""

import gzip
import hashlib
import json
import logging
import re
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from access.audit import COMMAND
from config.object_storage import documents_days
from ingest.edits import moving
from ingest.edits.editing import remove_run
from ingest.edits.recompute import pairs_of, recompute_for
from ingest.fleet_changes.watching import find_due
from ingest.processing.run_processing import process_run
from ingest.tasks import move_documents, prune_old_runs
from monitoring.checks.servers import documents as documents_check
from reports.export_jobs import make
from reports.rows import try_statements
from store import run_documents
from store.models import (
    ExportJob,
    FleetChange,
    FleetChangeMember,
    Measurement,
    MovedDocument,
    Run,
    RunDocument,
)
from store.run_documents import document_bytes
from tests.conftest import ApiClient, Bucket, StoreRun
from tests.histories import run_of_day
from tests.launch.tools import free_port
from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

DAYS = 30
HISTORY = "tool=openssl&cipher=aes-128-cbc&block_size=16384"


@pytest.fixture(autouse=True)
def days(settings: Settings) -> None:
    """Of a site that moves documents, and that everybody may look at."""
    settings.CIPHERMARK_DOCUMENTS_DAYS = DAYS
    settings.CIPHERMARK_PUBLIC = True


def move() -> None:
    """What the schedule does when all that is stored has become old."""
    Run.objects.update(received_at=timezone.now() - timedelta(days=DAYS + 1))
    move_documents()


def moved() -> set[int]:
    """The runs whose documents are not in the database."""
    return set(RunDocument.objects.filter(body=None).values_list("pk", flat=True))


def object_of(body: bytes) -> str:
    digest = hashlib.sha256(body).hexdigest()
    return f"site-1/documents/{digest[:2]}/{digest}.json.gz"


def later(**elapsed: float) -> None:
    """What no run has any more has been so for longer."""
    MovedDocument.objects.update(unused_since=F("unused_since") - timedelta(**elapsed))


def away(bucket: Bucket) -> None:
    bucket.on_machine("web", bucket.url.replace(bucket.server, f"http://127.0.0.1:{free_port()}"))


@pytest.fixture
def history(bucket: Bucket, store_run: StoreRun) -> list[Run]:
    """A host that became slower when its OpenSSL changed, day after day; others beside it."""
    runs = []
    for day in range(12):
        version = "OpenSSL 3.0.2 15 Mar 2022" if day < 6 else "OpenSSL 3.5.0 8 Apr 2025"
        known = {**environment(), "openssl": {"version_text": version}}
        rate = (1e9 if day < 6 else 5e8) + day * 1e6
        tried = (ssh_measurement("aes128-ctr", rate), openssl_measurement("aes-128-cbc", rate))
        runs.append(store_run(run_of_day(day, *tried, environment=known)))
    runs.append(store_run(run_document(ssh_measurement("aes128-ctr", 3e8), host={"name": "pi"})))
    return runs


def answers(client: Client, runs: list[Run]) -> dict[str, bytes]:
    """All that shows something of documents."""
    run, host = runs[-2], runs[-2].host
    assert host is not None
    addresses = (
        *(f"/api/v1/runs/{one.run_id}/document/" for one in runs),
        f"/api/v1/runs/{run.run_id}/",
        f"/runs/{run.run_id}/",
        f"/hosts/{host.pk}/?{HISTORY}",
        f"/api/v1/hosts/{host.pk}/",
        f"/hosts/{host.pk}/history.csv?{HISTORY}",
        f"/runs/{run.run_id}/diff/{runs[0].run_id}/",
        f"/hosts/{host.pk}/diff/{runs[-1].host_id}/",
        "/api/v1/recommendation/?host=nas&until=2026-11-01",
        "/api/v1/exports/samples.csv",
        "/api/v1/exports/samples.csv?latest=1",
        "/api/v1/exports/samples.csv?q=pi",
        "/changes/",
    )
    found = {}
    for address in addresses:
        answer = client.get(address, follow=True)
        assert answer.status_code == 200, (address, answer.content)
        found[address] = re.sub(rb'"made_at":"[^"]+"', b"", answer.getvalue())
        assert "samples.csv" not in address or found[address].count(b"\n") > 1
    return found


def changes() -> list[tuple[Any, ...]]:
    """What was found in the runs, and what differs in their environments."""
    parts = FleetChangeMember.objects.order_by("change__kind", "host", "first_run")
    return list(parts.values_list("change__kind", "change__cause", "first_run", "differences"))


def test_all_that_shows_documents_shows_the_same(
    history: list[Run], bucket: Bucket, reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    Run.objects.update(received_at=timezone.now() - timedelta(days=DAYS + 1))
    before = answers(reader, history)
    documents = {run.pk: document_bytes(run.document) for run in history}
    move_documents()
    assert moved() == set(documents)
    assert set(bucket.names()) == set(map(object_of, documents.values()))
    name = object_of(documents[history[0].pk])
    stored = bucket.client.get_object(Bucket=bucket.name, Key=name)["Body"].read()
    assert gzip.decompress(stored) == documents[history[0].pk]
    monkeypatch.setattr(try_statements, "MOST", 2)
    assert any("OpenSSL 3.0.2 → OpenSSL 3.5.0".encode() in page for page in before.values())
    assert answers(reader, history) == before
    found = changes()
    assert found
    FleetChange.objects.all().delete()
    recompute_for(pairs_of(Run.objects.all()))
    assert find_due()
    assert changes() == found
    assert documents_check().found == "13 in object storage"


def test_files_of_tries_have_documents_from_both(
    history: list[Run], reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = reader.get("/api/v1/exports/samples.csv").getvalue()
    old = [run.pk for run in history[::3]]
    Run.objects.filter(pk__in=old).update(received_at=timezone.now() - timedelta(days=DAYS + 1))
    move_documents()
    assert moved() == set(old)
    for most in (1, 2, 3, 5, 64):
        monkeypatch.setattr(try_statements, "MOST", most)
        assert reader.get("/api/v1/exports/samples.csv").getvalue() == before


def test_only_what_is_old_and_processed_moves(
    bucket: Bucket, store_run: StoreRun, uploader: ApiClient, settings: Settings
) -> None:
    old, young = store_run(run_document()), store_run(run_document())
    assert uploader.upload(run_document()).status_code == 202
    waits = Run.objects.get(status="accepted")
    rejected = store_run(run_document(finished_at="2020-01-01T00:00:00Z"))
    early = timezone.now() - timedelta(days=DAYS + 1)
    Run.objects.exclude(pk=young.pk).update(received_at=early)
    settings.CIPHERMARK_DOCUMENTS_DAYS = None
    move_documents()
    assert moved() == set()
    settings.CIPHERMARK_DOCUMENTS_DAYS = DAYS
    move_documents()
    assert moved() == {old.pk, rejected.pk}
    assert process_run(waits.pk) == "ready"


def test_the_run_of_a_moved_document_is_known(
    bucket: Bucket, store_run: StoreRun, uploader: ApiClient
) -> None:
    document = run_document(ssh_measurement("aes128-ctr", 1e8))
    store_run(document)
    move()
    assert uploader.upload(document).status_code == 200
    assert uploader.upload({**document, "tags": {"a": "b"}}).status_code == 409
    assert Run.objects.count() == 1


def test_rows_are_derived_anew_of_moved_documents(
    bucket: Bucket, store_run: StoreRun, caplog: pytest.LogCaptureFixture
) -> None:
    runs = [store_run(run_of_day(day, ssh_measurement("aes128-ctr", 1e8))) for day in range(3)]
    early = timezone.now() - timedelta(days=DAYS + 1)
    Run.objects.filter(pk__in=[run.pk for run in runs[:2]]).update(received_at=early)
    move_documents()
    assert moved() == {run.pk for run in runs[:2]}

    def renew() -> str:
        Run.objects.update(derived_version=1)
        Measurement.objects.update(median=1.0)
        said = StringIO()
        call_command("renew_runs", stdout=said, stderr=said)
        return said.getvalue()

    def medians() -> list[float | None]:
        return list(Measurement.objects.order_by("run_id").values_list("median", flat=True))

    assert renew() == "3 runs were derived again.\n"
    assert medians() == [1e8, 1e8, 1e8]
    bucket.put(object_of(document_bytes(runs[0].document)))
    assert "2 runs were derived again.\n1 run keeps what" in renew()
    assert medians() == [1.0, 1e8, 1e8]
    assert str(runs[0].run_id) in caplog.text
    away(bucket)
    assert "1 run was derived again.\n2 runs keep what" in renew()
    assert medians() == [1.0, 1.0, 1e8]
    assert set(Run.objects.values_list("status", flat=True)) == {"ready"}


def test_while_the_object_storage_is_away_only_what_needs_it_waits(
    history: list[Run], bucket: Bucket, reader: ApiClient, uploader: ApiClient, store_run: StoreRun
) -> None:
    move()
    reader.raise_request_exception = False
    run, host = history[-2], history[-2].host
    assert host is not None
    away(bucket)
    for address in (f"/runs/{run.run_id}/", f"/api/v1/runs/{run.run_id}/document/"):
        answer = reader.get(address)
        assert (answer.status_code, "Retry-After" in answer) == (503, True), address
        assert b"object storage cannot be used just now" in answer.content
    assert reader.get("/api/v1/exports/samples.csv").status_code == 503
    for address in (
        "/",
        "/hosts/",
        "/runs/",
        "/changes/",
        "/recommend/?host=nas",
        "/api/v1/recommendation/?host=nas",
        f"/hosts/{host.pk}/?{HISTORY}",
        f"/hosts/{host.pk}/history.csv?{HISTORY}",
        f"/runs/{run.run_id}/diff/{history[0].run_id}/",
        f"/hosts/{host.pk}/diff/{history[-1].host_id}/",
        "/api/v1/exports/measurements.csv",
    ):
        assert reader.get(address, follow=True).status_code == 200, address
    assert uploader.upload(run_document()).status_code == 202
    late = store_run(run_document())
    before = moved()
    move()
    assert moved() == before, "it stays here meanwhile"
    bucket.on_machine("web")
    move_documents()
    assert moved() == before | {late.pk}
    assert reader.get(f"/runs/{run.run_id}/").status_code == 200


@pytest.mark.parametrize(
    ("spoil", "words"),
    (
        (lambda bucket, name: bucket.remove(name), "is not there"),
        (lambda bucket, name: bucket.put(name), "is damaged"),
        (
            lambda bucket, name: bucket.client.put_object(
                Bucket=bucket.name, Key=name, Body=gzip.compress(b"{}" * 1000)
            ),
            "is damaged",
        ),
    ),
)
def test_a_lost_object_is_named_with_its_run(
    bucket: Bucket,
    store_run: StoreRun,
    reader: ApiClient,
    caplog: pytest.LogCaptureFixture,
    spoil: Callable[[Bucket, str], None],
    words: str,
) -> None:
    run, other = store_run(run_document()), store_run(run_document())
    name = object_of(document_bytes(run.document))
    move()
    spoil(bucket, name)
    reader.raise_request_exception = False
    said = f"The document of run {run.run_id} cannot be read: the object"
    for address in (f"/runs/{run.run_id}/", f"/api/v1/runs/{run.run_id}/document/"):
        answer = reader.get(address)
        assert answer.status_code == 503
        assert said in answer.content.decode()
        assert f"{name.removeprefix('site-1/')} {words}" in answer.content.decode()
        assert "again" not in answer.content.decode()  # asked again it is as lost
    assert said in caplog.text
    job = reader.post("/api/v1/exports/jobs/?kind=samples").json()
    make(ExportJob.objects.get().pk)
    assert said in reader.get(job["url"]).json()["failure"]
    assert reader.get(f"/runs/{other.run_id}/").status_code == 200


class Killed(BaseException):
    """As by SIGKILL: nothing is tidied up."""


@pytest.mark.parametrize("step", ("put", "fetch", "_taken"))
def test_a_move_that_is_broken_off_loses_nothing_and_is_done_again(
    bucket: Bucket, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    run = store_run(run_document())
    body = document_bytes(run.document)

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    module = moving if step == "_taken" else run_documents
    with monkeypatch.context() as patch:
        patch.setattr(module, step, killed)
        with pytest.raises(Killed):
            move()
    assert moved() == set()
    move()
    assert moved() == {run.pk}
    assert document_bytes(RunDocument.objects.get()) == body
    assert bucket.names() == [object_of(body)]


def test_what_does_not_arrive_whole_does_not_leave(
    bucket: Bucket, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = store_run(run_document())
    with monkeypatch.context() as patch:
        patch.setattr(gzip, "compress", lambda body, **_: body[:-1])
        move()
    assert moved() == set()
    move()
    assert moved() == {run.pk}


def test_a_document_that_changes_while_it_is_brought_there_stays(
    bucket: Bucket, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_run(run_document())
    put, newer = run_documents.put, b'{"environment": {}}'

    def replaced_meanwhile(*given: Any, **options: Any) -> None:
        put(*given, **options)
        RunDocument.objects.update(body=newer)

    monkeypatch.setattr(run_documents, "put", replaced_meanwhile)
    move()
    assert moved() == set()
    assert document_bytes(RunDocument.objects.get()) == newer


def twins(store_run: StoreRun) -> tuple[Run, Run]:
    """Two runs with documents of the same bytes."""
    run, twin = store_run(run_document()), store_run(run_document())
    RunDocument.objects.filter(pk=twin.pk).update(body=run.document.body)
    return run, twin


def test_an_object_of_two_runs_goes_with_the_second(bucket: Bucket, store_run: StoreRun) -> None:
    run, twin = twins(store_run)
    body = document_bytes(run.document)
    move()
    assert moved() == {run.pk, twin.pk}
    assert bucket.names() == [object_of(body)]
    remove_run(run.pk, COMMAND)
    for _ in range(2):
        move_documents()
        later(days=2)
    move_documents()
    assert document_bytes(RunDocument.objects.get()) == body
    remove_run(twin.pk, COMMAND)
    move_documents()
    later(hours=23)
    move_documents()
    assert bucket.names() == [object_of(body)], "a backup that has begun may read it"
    later(hours=2)
    move_documents()
    assert bucket.names() == []
    assert not MovedDocument.objects.exists()


def test_objects_of_pruned_runs_go_and_nothing_else(
    history: list[Run], bucket: Bucket, settings: Settings
) -> None:
    move()
    others = ["site-1/documents/notes.txt", f"site-1/documents/aa/{'a' * 64}.json.gz"]
    bucket.put(*others)
    settings.CIPHERMARK_KEEP_DAYS = 60
    prune_old_runs()
    left = [document_bytes(one) for one in RunDocument.objects.all()]
    assert 0 < len(left) < len(history)
    move_documents()
    later(hours=25)
    move_documents()
    assert sorted(bucket.names()) == sorted([*map(object_of, left), *others])


def test_a_run_that_is_deleted_and_sent_again_has_the_same_object(
    bucket: Bucket, store_run: StoreRun
) -> None:
    document = run_document()
    remove_run(moved_run(store_run, document).pk, COMMAND)
    move_documents()
    later(hours=11)
    run = moved_run(store_run, document)
    later(hours=25)
    move_documents()
    assert json.loads(document_bytes(RunDocument.objects.get(pk=run.pk))) == document


def moved_run(store_run: StoreRun, document: dict[str, Any]) -> Run:
    run = store_run(document)
    move()
    assert moved() == {run.pk}
    run.refresh_from_db()
    return run


def test_an_object_that_may_be_going_is_not_relied_on(bucket: Bucket, store_run: StoreRun) -> None:
    document = run_document()
    remove_run(moved_run(store_run, document).pk, COMMAND)
    move_documents()
    later(hours=20)
    run = store_run(document)
    move()
    assert moved() == set()
    later(hours=5)
    move()
    assert moved() == {run.pk}
    assert len(bucket.names()) == 1
    assert json.loads(document_bytes(RunDocument.objects.get())) == document


def test_all_documents_come_back(
    history: list[Run],
    bucket: Bucket,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(moving, "BATCH", 4)
    Run.objects.update(received_at=timezone.now() - timedelta(days=DAYS + 1))
    documents = {run.pk: document_bytes(run.document) for run in history}
    said = StringIO()
    call_command("move_documents", stdout=said)
    assert said.getvalue().startswith("13 documents moved, ")
    assert moved() == set(documents)
    with pytest.raises(CommandError, match="Unset CIPHERMARK_DOCUMENTS_DAYS first"):
        call_command("move_documents", back=True)
    settings.CIPHERMARK_DOCUMENTS_DAYS = None
    with pytest.raises(CommandError, match="Set CIPHERMARK_DOCUMENTS_DAYS"):
        call_command("move_documents")
    lost = object_of(documents[history[5].pk])
    kept = bucket.client.get_object(Bucket=bucket.name, Key=lost)["Body"].read()
    bucket.remove(lost)
    with pytest.raises(CommandError, match=r"^1 cannot be read in object storage"):
        call_command("move_documents", back=True, stdout=StringIO())
    assert str(history[5].run_id) in caplog.text
    bucket.client.put_object(Bucket=bucket.name, Key=lost, Body=kept)
    call_command("move_documents", back=True, stdout=StringIO())
    assert {one.pk: bytes(one.body or b"") for one in RunDocument.objects.all()} == documents
    move_documents()
    later(hours=25)
    move_documents()
    assert bucket.names() == []


def test_a_command_says_how_far_it_came(history: list[Run], bucket: Bucket) -> None:
    Run.objects.update(received_at="2020-01-01T00:00:00Z")
    away(bucket)
    with pytest.raises(CommandError, match=r"^0 documents moved, then no more: .*endpoint"):
        call_command("move_documents")


def test_documents_without_their_storage_are_told(
    bucket: Bucket, store_run: StoreRun, reader: ApiClient, caplog: pytest.LogCaptureFixture
) -> None:
    run = store_run(run_document())
    move()
    bucket.on_machine("web", "")
    reader.raise_request_exception = False
    with caplog.at_level(logging.WARNING):
        assert reader.get(f"/runs/{run.run_id}/").status_code == 503
    found = documents_check()
    assert (found.state, found.found) == ("wrong", "1 in object storage, which is not set")
    move_documents()
    assert moved() == {run.pk}


def test_documents_that_are_elsewhere_are_told(bucket: Bucket, store_run: StoreRun) -> None:
    run = store_run(run_document())
    move()
    assert documents_check().state == "ok"
    bucket.on_machine("web", bucket.url.replace("/site-1", "/site-2"))
    found = documents_check()
    assert found.state == "wrong"
    assert f"1 in object storage; of the latest: The document of run {run.run_id}" in found.found
    away(bucket)
    assert documents_check().state == "wrong"


def test_documents_that_do_not_move_are_told(bucket: Bucket, store_run: StoreRun) -> None:
    store_run(run_document())
    assert documents_check().state == "ok"
    Run.objects.update(received_at=timezone.now() - timedelta(days=DAYS + 3))
    assert documents_check().state == "warning"
    move_documents()
    assert documents_check().state == "ok"


def test_days_need_a_storage() -> None:
    assert documents_days(7, "s3://bucket") == 7
    assert documents_days(None, "") is None
    with pytest.raises(ImproperlyConfigured, match="CIPHERMARK_STORAGE_URL, where documents move"):
        documents_days(7, "")


@pytest.mark.django_db(transaction=True)
def test_an_older_version_is_not_gone_back_to_while_documents_are_moved(
    bucket: Bucket, store_run: StoreRun
) -> None:
    store_run(run_document())
    move()
    with pytest.raises(CommandError, match="move_documents --back first"):
        call_command("migrate", "runs", "0031", verbosity=0, interactive=False)
    assert len(moved()) == 1
    call_command("migrate", verbosity=0, interactive=False)  # what later ones had added
