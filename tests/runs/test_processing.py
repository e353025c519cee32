import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.db import connection

from cipherspeed.run_document import DocumentRejected
from runs import processing
from runs.models import Environment, Host, Measurement, Run, RunSpeedIndex
from runs.processing import DERIVED_VERSION, derive_run
from runs.verdicts import judge
from tests.conftest import StoreRun, accepted
from tests.sample_documents import environment, run_document, ssh_measurement


def process_together(runs: Sequence[Run]) -> set[Run.Status]:
    def process(run: Run) -> Run.Status:
        try:
            return Run.Status(derive_run(run.pk).status)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(runs)) as workers:
        return set(workers.map(process, runs))


@pytest.mark.django_db
def test_processing_twice_makes_the_rows_once() -> None:
    run = accepted(run_document(ssh_measurement("3des-cbc", 2e7)))
    for _ in range(2):
        assert derive_run(run.pk).status == Run.Status.READY
    assert Measurement.objects.count() == 1
    assert RunSpeedIndex.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round_", range(3))
def test_first_runs_of_new_machines_may_be_processed_at_once(round_: int) -> None:
    runs = [
        accepted(
            run_document(
                host={"name": "new", "machine_id": character * 64},
                environment=environment(model=f"New CPU {round_}"),
            )
        )
        for character in "aabbcdef"
    ]

    assert process_together(runs) == {Run.Status.READY}
    assert (Host.objects.count(), Environment.objects.count()) == (6, 1)


@pytest.mark.django_db(transaction=True)
def test_two_halves_of_a_verdict_processed_at_once_find_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def judge_slowly(*judged: Any) -> None:
        judge(*judged)
        time.sleep(0.5)  # the other run is stored meanwhile, unless it waits for the lock

    monkeypatch.setattr(processing, "judge", judge_slowly)
    gcm = "aes128-gcm@openssh.com"
    halves = (
        run_document(ssh_measurement(gcm, 9e8)),
        run_document(ssh_measurement(gcm, 1e8, acceleration="masked"), tags={"masked": "yes"}),
    )
    process_together([accepted(document) for document in halves])
    assert set(Run.objects.values_list("acceleration", flat=True)) == {"hardware"}


@pytest.mark.django_db
def test_an_unexpected_failure_leaves_the_run_accepted_and_no_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = accepted(run_document())
    monkeypatch.setattr("runs.verdicts.acceleration_verdict", lambda *facts: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        derive_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.ACCEPTED
    assert not Measurement.objects.exists()


def test_a_run_of_an_older_version_is_derived_anew(store_run: StoreRun) -> None:
    run = store_run(run_document())
    today = run.environment
    assert today is not None
    old = Environment.objects.get(pk=today.pk)
    old.pk, old.fingerprint = None, "0" * 64
    old.save()
    Run.objects.filter(pk=run.pk).update(environment=old, derived_version=1, hidden=True)
    Measurement.objects.filter(run=run).update(median=1.0)
    said = StringIO()
    for _ in range(2):
        call_command("renew_runs", stdout=said)
    assert said.getvalue() == "1 run was processed again.\n"
    run.refresh_from_db()
    assert (run.environment, run.derived_version) == (today, DERIVED_VERSION)
    assert run.hidden
    assert list(Environment.objects.all()) == [today]
    assert Measurement.objects.get(run=run).median == 410e6


def test_a_run_that_a_newer_program_rejects_is_not_the_latest_of_its_host(
    store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = store_run(run_document(started_at="2025-11-20T06:48:10Z"))
    latest = store_run(run_document())
    Run.objects.filter(pk=latest.pk).update(derived_version=1)
    reject = Mock(side_effect=DocumentRejected("cannot be true"))
    monkeypatch.setattr(processing, "parse_run_document", reject)
    call_command("renew_runs", stdout=StringIO())
    latest.refresh_from_db()
    assert (latest.status, latest.rejection) == (Run.Status.REJECTED, "cannot be true")
    assert Host.objects.get().latest_run == older
