import pytest
from django.db import OperationalError

from runs import processing, tasks
from runs.models import Run
from tests.conftest import accepted
from tests.sample_documents import run_document


@pytest.fixture
def run(db: None) -> Run:
    return accepted(run_document())


def test_a_document_that_ends_its_worker_is_rejected_after_five_attempts(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(processing, "parse_run_document", lambda _: 1 / 0)
        for attempt in range(1, 6):
            with pytest.raises(ZeroDivisionError):
                tasks.process_run(run.pk)
            run.refresh_from_db()
            assert (run.status, run.attempts) == (Run.Status.ACCEPTED, attempt)
    tasks.process_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.REJECTED
    assert "failed 5 times" in run.rejection
    assert run.document.received


def test_a_database_that_went_away_is_not_the_documents_fault(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def broken_off(run_pk: int) -> None:
        tries.append(run_pk)
        raise OperationalError("terminating connection due to administrator command")

    monkeypatch.setattr(processing, "derive_run", broken_off)
    tasks.process_run.apply((run.pk,))
    run.refresh_from_db()
    assert len(tries) == 6
    assert (run.status, run.attempts) == (Run.Status.ACCEPTED, 1)


def test_a_task_of_a_run_that_is_gone_or_done_does_nothing(run: Run) -> None:
    for _ in range(2):
        tasks.process_run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.attempts) == (Run.Status.READY, 1)
    run.delete()
    tasks.process_run(0)


def test_what_has_waited_a_minute_is_queued_again(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(tasks.process_run, "delay", sent.append)
    tasks.queue_waiting_runs()
    assert sent == []
    Run.objects.filter(pk=run.pk).update(received_at="2026-01-01T00:00:00Z")
    tasks.queue_waiting_runs()
    tasks.process_run(run.pk)
    tasks.queue_waiting_runs()
    assert sent == [run.pk]
