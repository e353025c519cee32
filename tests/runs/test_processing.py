"""Turning stored documents into rows."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import IntegrityError, connection

from runs.acceptance import RunConflict, accept_run
from runs.models import DimensionValue, Environment, Host, Measurement, Run, RunSpeedIndex
from runs.processing import process_run
from tests.conftest import StoreRun
from tests.sample_documents import environment, run_document, ssh_measurement


def accepted(document: dict[str, Any]) -> Run:
    return accept_run(json.dumps(document).encode(), document, source="agent").run


@pytest.mark.django_db
def test_processing_twice_makes_the_rows_once() -> None:
    run = accepted(run_document(ssh_measurement("3des-cbc", 2e7)))
    assert process_run(run.pk) == Run.Status.READY
    assert process_run(run.pk) == Run.Status.READY
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

    def process(run: Run) -> Run.Status:
        try:
            return process_run(run.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(runs)) as workers:
        assert set(workers.map(process, runs)) == {Run.Status.READY}
    assert (Host.objects.count(), Environment.objects.count()) == (6, 1)


@pytest.mark.django_db
def test_two_runs_in_one_environment_share_it() -> None:
    for _ in range(2):
        process_run(accepted(run_document()).pk)
    assert (Host.objects.count(), Environment.objects.count()) == (1, 1)


@pytest.mark.django_db
def test_dimension_values_are_stored_once() -> None:
    for model in ("AMD EPYC 9R14", "AMD EPYC 7763 64-Core Processor"):
        process_run(accepted(run_document(environment=environment(model=model))).pk)
    assert DimensionValue.objects.filter(dimension="cpu").count() == 2
    assert DimensionValue.objects.filter(dimension="os").count() == 1


@pytest.mark.django_db
def test_the_database_itself_refuses_a_series_twice(store_run: StoreRun) -> None:
    row = store_run(run_document()).measurements.get()
    with pytest.raises(IntegrityError, match="runs_measurement_pkey"):
        row.save(force_insert=True)


@pytest.mark.django_db
def test_an_unexpected_failure_leaves_the_run_accepted_and_no_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = accepted(run_document())
    monkeypatch.setattr("runs.judging.acceleration_verdict", lambda *facts: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        process_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.ACCEPTED
    assert not Measurement.objects.exists()


@pytest.mark.django_db
def test_a_conflicting_document_leaves_the_first_one_alone() -> None:
    document = run_document()
    accepted(document)
    with pytest.raises(RunConflict):
        accepted({**document, "skipped": [{"tool": "ssh", "cipher": None, "reason": "x"}]})
    assert Run.objects.count() == 1
