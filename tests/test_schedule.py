from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from runs import pruning
from runs.models import Run
from runs.tasks import prune_old_runs
from tests.conftest import StoreRun
from tests.histories import run_of_day
from tests.sample_documents import ssh_measurement

BEATS = 3


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
