"""Tasks are words that may be lost, said twice, or kill who hears them."""

import threading
from contextlib import suppress
from datetime import timedelta
from math import inf
from typing import Any

import pytest
from django.db import OperationalError, connection
from kombu.exceptions import OperationalError as BrokerError

from ingest import tasks
from ingest.processing import run_processing as processing
from ingest.processing.processing_locks import claimed
from store import broker
from store.models import Run
from tests.conftest import accepted
from tests.sample_documents import run_document


@pytest.fixture(autouse=True)
def a_long_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No turn ends and no word is lost because the machine is busy."""
    monkeypatch.setattr(tasks, "TURN", inf)
    monkeypatch.setattr(tasks, "SWEEP_AFTER", timedelta(hours=1))
    monkeypatch.setattr(broker, "WORD_SECONDS", 600)


@pytest.fixture
def run(db: None) -> Run:
    """A run that has just been accepted."""
    return another_run()


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the tasks that were asked for."""
    names: list[str] = []
    monkeypatch.setattr(tasks, "enqueue_once", lambda task: names.append(task.name))
    return names


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Tasks that were sent: the end of their name, and their arguments."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        tasks, "send", lambda task, *asked: found.append((task.name.split(".")[-1], *asked))
    )
    return found


def another_run() -> Run:
    return accepted(run_document())


def late(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(received_at="2026-01-01T00:00:00Z")


def test_a_document_that_kills_its_worker_ends_rejected_without_anybody_sweeping(run: Run) -> None:
    Run.objects.update(attempts=tasks.MAX_ATTEMPTS)
    tasks.process_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.REJECTED
    assert "failed 5 times" in run.rejection
    assert run.document.received


def test_a_database_that_went_away_is_not_the_documents_fault(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def broken_off(run_pk: int, *, at_most: int, count: bool) -> None:
        tries.append(count)
        raise OperationalError("terminating connection due to administrator command")

    monkeypatch.setattr(processing, "process_run", broken_off)
    tasks.process_run.apply((run.pk,))
    run.refresh_from_db()
    assert tries == [True, *[False] * 5]
    assert run.status == Run.Status.ACCEPTED


@pytest.mark.django_db(transaction=True)
def test_a_run_that_a_worker_has_in_hand_holds_no_other_worker_up(run: Run) -> None:
    done: list[Any] = []

    def other_worker() -> None:
        for _ in range(tasks.MAX_ATTEMPTS + 1):
            tasks.process_run(run.pk)
        connection.close()
        done.append(True)

    with claimed(run.pk) as mine:
        assert mine
        other = threading.Thread(target=other_worker)
        other.start()
        other.join(60)
        assert done == [True]
        run.refresh_from_db()
        assert (run.status, run.attempts) == (Run.Status.ACCEPTED, 0)
    tasks.process_run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.attempts) == (Run.Status.READY, 1)


def test_a_sweep_finds_what_was_lost_and_leaves_what_may_wait_its_turn(
    run: Run,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setattr(tasks, "waiting_tasks", lambda: 0)
    with django_capture_on_commit_callbacks(execute=True):
        tasks.sweep()
    assert words == []
    late(run)
    with django_capture_on_commit_callbacks(execute=True):
        tasks.sweep()
    assert words == [tasks.process_accepted.name]
    monkeypatch.setattr(tasks, "waiting_tasks", lambda: tasks.SWEEP_AT_MOST + 1)
    with django_capture_on_commit_callbacks(execute=True):
        tasks.sweep()
    assert words == [tasks.process_accepted.name]


def test_of_many_uploads_only_one_waits_for_a_broker_that_is_away(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    now, asked, real = [1000.0], [], settings.REDIS_URL

    def publish(task: Any, number: int) -> None:
        asked.append(number)
        if real != settings.REDIS_URL:
            raise BrokerError("connection refused")

    task: Any = tasks.process_run
    monkeypatch.setattr(broker, "_publish", publish)
    monkeypatch.setattr("store.broker.time.monotonic", lambda: now[0])
    monkeypatch.setattr(broker, "_outage", broker._Outage())
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert [broker.send(task, number) for number in range(3)] == [False] * 3
    now[0] += broker.RETRY_BROKER
    assert [broker.send(task, number) for number in range(3, 6)] == [False] * 3
    assert asked == [0]
    now[0] += broker.RETRY_BROKER
    settings.REDIS_URL = real
    assert [broker.send(task, number) for number in range(6, 8)] == [True, True]
    assert asked == [0, 6, 7]


@pytest.mark.django_db
@pytest.mark.parametrize("failure", (OperationalError("gone"), ZeroDivisionError("ours")))
def test_a_run_that_breaks_off_keeps_nobody_waiting(
    failure: Exception, sent: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_off(run_pk: int, *, at_most: int) -> None:
        raise failure

    first, behind = another_run(), another_run()
    with monkeypatch.context() as broken, suppress(ZeroDivisionError):
        broken.setattr(processing, "process_run", broken_off)
        tasks.process_accepted()
    again = [("process_run", first.pk, True)] if isinstance(failure, OperationalError) else []
    assert sent == [*again, ("process_accepted", first.pk)]
    tasks.process_accepted(first.pk)
    assert Run.objects.get(pk=behind.pk).status == Run.Status.READY
    assert Run.objects.get(pk=first.pk).status == Run.Status.ACCEPTED


def test_the_length_of_the_queue_is_read_from_the_real_broker() -> None:
    assert broker.waiting_tasks() >= 0
