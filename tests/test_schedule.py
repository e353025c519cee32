"""Beat: two of them send each task twice at one moment, and a clock that was ahead is no matter."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from celery import current_app
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings

from config.beat import MemoryScheduler
from runs import pruning
from runs.tasks import prune_old_runs
from store.models import Run
from tests.conftest import StoreRun
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


@pytest.mark.django_db(transaction=True)
def test_old_runs_are_pruned_once(
    settings: Settings, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CIPHERMARK_KEEP_DAYS = 30
    monkeypatch.setattr(pruning, "BATCH_RUNS", 3)
    for day in range(12):
        store_run(run_of_day(day, ssh_measurement("aes128-ctr", 1e8)))
    together = Barrier(BEATS)

    def call(_: int) -> None:
        together.wait()
        try:
            prune_old_runs()
        finally:
            connection.close()

    with ThreadPoolExecutor(BEATS) as threads:
        list(threads.map(call, range(BEATS)))
    assert Run.objects.count() == 1, "the latest result stays"
