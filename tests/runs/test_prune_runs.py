from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from runs import pruning, tasks
from runs.models import Environment, Measurement, Run, RunDocument
from tests.conftest import StoreRun
from tests.histories import run_of_day
from tests.sample_documents import run_document, ssh_measurement

AES, DES = ssh_measurement("aes128-ctr", 1e8), ssh_measurement("3des-cbc", 2e7)


@pytest.fixture
def history(store_run: StoreRun, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    monkeypatch.setattr(pruning, "BATCH_RUNS", 2)
    return [store_run(run_of_day(day, *((AES, DES) if day == 2 else (AES,)))) for day in range(6)]


def prune(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    call_command("prune_runs", *arguments)
    return capsys.readouterr().out


def kept() -> list[int]:
    return list(Run.objects.order_by("id").values_list("pk", flat=True))


def test_the_latest_run_of_each_environment_stays(
    history: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    other = Environment.objects.create(
        **{**Environment.objects.values().get(), "id": None, "fingerprint": "0" * 64}
    )
    Run.objects.filter(pk=history[2].pk).update(environment=other)
    assert prune("--older-than", "30", "--dry-run", capsys=capsys).startswith("4 runs would")
    assert len(kept()) == 6
    assert prune("--older-than", "30", capsys=capsys).startswith("4 runs deleted")
    assert kept() == [history[2].pk, history[5].pk]
    assert set(Measurement.objects.values_list("run_id", flat=True)) == set(kept())
    assert RunDocument.objects.count() == 2
    assert prune("--older-than", "30", capsys=capsys).startswith("0 runs deleted")


@pytest.mark.usefixtures("published")
def test_new_runs_waiting_runs_and_those_of_pages_stay(
    history: list[Run], store_run: StoreRun, capsys: pytest.CaptureFixture[str]
) -> None:
    others = list(Run.objects.exclude(pk__in=[run.pk for run in history]))
    Run.objects.filter(pk=history[1].pk).update(status=Run.Status.ACCEPTED)
    Run.objects.filter(pk=history[3].pk).update(hidden=True)
    waiting = {run.pk for run in (*others, history[1], history[5])}
    store_run(run_document(finished_at="2019-01-01T00:00:00Z"))  # rejected, but new
    waiting.add(Run.objects.latest("pk").pk)
    prune("--older-than", "30", capsys=capsys)
    assert set(kept()) == waiting


@pytest.mark.django_db
@pytest.mark.parametrize("arguments", ((), ("--older-than", "0"), ("--older-than", "999999")))
def test_days_that_make_no_sense_are_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="older-than"):
        call_command("prune_runs", *arguments)


@pytest.mark.parametrize(("days", "left"), ((None, 12), (30, 11)))
def test_the_schedule_deletes_only_where_it_was_asked_to(
    store_run: StoreRun, settings: Settings, days: int | None, left: int
) -> None:
    runs = [store_run(run_of_day(0, AES)) for _ in range(12)]
    recent = timezone.now() - timedelta(days=1)
    Run.objects.exclude(pk=runs[0].pk).update(started_at=recent)
    settings.CIPHERMARK_KEEP_DAYS = days
    tasks.prune_old_runs()
    assert len(kept()) == left


def test_a_clock_that_is_ahead_makes_no_run_old(
    history: list[Run], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CIPHERMARK_KEEP_DAYS = 3650
    ahead = timezone.now() + timedelta(days=36500)
    monkeypatch.setattr("django.utils.timezone.now", lambda: ahead)
    tasks.prune_old_runs()
    assert len(kept()) == 6
