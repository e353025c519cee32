"""Two beats send each task twice at one moment: that costs work, and nothing else."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from celery import current_app
from django.conf import settings as site
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.utils import timezone
from pytest_django.fixtures import Settings

from config.beat import MemoryScheduler
from ingest import tasks
from ingest.edits import moving, pruning
from ingest.tasks import move_documents, prune_old_runs
from reports.export_jobs import make
from reports.tasks import sweep_exports
from results.analytics.maintenance import snapshot
from store.models import ExportJob, MovedDocument, Run, RunDocument
from store.run_documents import document_bytes, documents_of
from tests.conftest import ApiClient, Bucket, StoreRun
from tests.histories import run_of_day
from tests.sample_documents import ssh_measurement

BEATS = 3


def test_beat_waits_for_no_clock_that_was_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(
        MemoryScheduler, "apply_entry", lambda _, entry, **__: sent.append(entry.name)
    )
    beat = MemoryScheduler(current_app, schedule={})
    beat.schedule.clear()
    beat.add(name="often", task="t", schedule=0.2)
    beat.add(name="seldom", task="t", schedule=3600)
    for entry in beat.schedule.values():  # as they have it when they were sent at such a time
        entry.last_run_at = timezone.now() + timedelta(days=1000)
    beat.tick()
    time.sleep(0.3)
    beat.tick()
    assert sent == ["often"]


def test_the_tasks_that_this_is_about_are_all_of_the_schedule() -> None:
    assert {one["task"] for one in site.CELERY_BEAT_SCHEDULE.values()} == {
        "access.tasks.clear_sessions",  # one statement
        "ingest.tasks.prune_old_runs",
        "ingest.tasks.move_documents",
        "reports.tasks.sweep_exports",
        "results.tasks.write_analytics_snapshot",  # calls `snapshot` in a process of its own
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_tasks_of_several_beats_do_each_thing_once(
    settings: Settings,
    tmp_path: Path,
    exports_folder: Path,
    store_run: StoreRun,
    reader: ApiClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.ANALYTICS_DIR = tmp_path / "analytics"
    settings.CIPHERMARK_KEEP_DAYS = 30
    monkeypatch.setattr(pruning, "BATCH_RUNS", 3)
    monkeypatch.setattr(pruning, "LARGEST_SHARE", 1)
    for day in range(12):
        store_run(run_of_day(day, ssh_measurement("aes128-ctr", 1e8)))
    jobs = []
    for kind in ("measurements", "samples"):
        asked = reader.post(f"/api/v1/exports/jobs/?kind={kind}").json()
        jobs.append(ExportJob.objects.get(job_id=asked["job_id"]))
        make(jobs[-1].pk)
    early = timezone.now() - timedelta(seconds=1)
    ExportJob.objects.filter(pk=jobs[0].pk).update(expires_at=early)

    for task in (prune_old_runs, sweep_exports, snapshot):
        at_once(task)

    assert Run.objects.count() == 1, "the latest result stays"
    assert [path.name for path in exports_folder.iterdir()] == [f"{jobs[1].job_id}.csv"]
    call_command("analytics", "--check")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_documents_are_moved_and_deleted_once(
    settings: Settings, bucket: Bucket, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CIPHERMARK_DOCUMENTS_DAYS = 30
    monkeypatch.setattr(moving, "BATCH", 3)
    monkeypatch.setattr(tasks, "TURN", 600.0)
    runs = [store_run(run_of_day(day, ssh_measurement("aes128-ctr", 1e8))) for day in range(12)]
    bodies = {run.pk: document_bytes(run.document) for run in runs}
    Run.objects.update(received_at=timezone.now() - timedelta(days=31))
    at_once(move_documents)
    assert not RunDocument.objects.exclude(body=None).exists()
    assert documents_of(bodies) == bodies
    Run.objects.filter(pk__in=[run.pk for run in runs[:6]]).delete()
    at_once(move_documents)
    MovedDocument.objects.update(unused_since=F("unused_since") - timedelta(days=2))
    at_once(move_documents)
    left = {run.pk: bodies[run.pk] for run in runs[6:]}
    assert documents_of(left) == left
    assert len(bucket.names()) == MovedDocument.objects.count() == len(left)


def at_once(task: Callable[[], object]) -> None:
    """Call it in several threads, each with a connection of its own."""
    together = Barrier(BEATS)

    def call(_: int) -> None:
        together.wait()
        try:
            task()
        finally:
            connection.close()

    with ThreadPoolExecutor(BEATS) as threads:
        list(threads.map(call, range(BEATS)))
