"""manage.py prune_runs: old runs go, what is still the latest stays."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from ingest import tasks
from ingest.edits import pruning
from results.hosts.latest import latest_results
from store.models import Host, Measurement, Run, RunDocument
from tests.conftest import StoreRun
from tests.histories import run_of_day
from tests.sample_documents import run_document, ssh_measurement

AES, DES = ssh_measurement("aes128-ctr", 1e8), ssh_measurement("3des-cbc", 2e7)


@pytest.fixture
def history(store_run: StoreRun, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Six days of one host in 2025; only the third measured 3des."""
    monkeypatch.setattr(pruning, "BATCH_RUNS", 2)
    return [store_run(run_of_day(day, *((AES, DES) if day == 2 else (AES,)))) for day in range(6)]


def prune(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    call_command("prune_runs", *arguments)
    return capsys.readouterr().out


def kept() -> list[int]:
    return list(Run.objects.order_by("id").values_list("pk", flat=True))


def latest() -> list[tuple[str, UUID]]:
    return [
        (one.detail.cipher, one.run_id)
        for host in Host.objects.all()
        for one in latest_results(host.pk)
    ]


def test_the_latest_result_of_each_series_stays(
    history: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    before = latest()
    assert prune("--older-than", "30", "--dry-run", capsys=capsys).startswith("4 runs would")
    assert len(kept()) == 6
    assert prune("--older-than", "30", "--confirm", capsys=capsys).startswith("4 runs deleted")
    assert kept() == [history[2].pk, history[5].pk]
    assert latest() == before
    assert set(Measurement.objects.values_list("run_id", flat=True)) == set(kept())
    assert RunDocument.objects.count() == 2
    assert prune("--older-than", "30", "--confirm", capsys=capsys).startswith("0 runs deleted")


def test_asked_to_it_deletes_those_too(
    history: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    assert prune("--older-than", "30", "--no-keep-latest", "--confirm", capsys=capsys).startswith(
        "6 runs"
    )
    assert kept() == []
    assert latest() == []


def test_a_verdict_that_rested_on_a_deleted_run_goes_with_it(
    store_run: StoreRun, capsys: pytest.CaptureFixture[str]
) -> None:
    gcm = "aes128-gcm@openssh.com"
    store_run(run_of_day(0, ssh_measurement(gcm, 1e8, acceleration="masked")))
    today = timezone.now().isoformat()
    fast = ssh_measurement(gcm, 9e8)
    plain = store_run(run_document(fast, started_at=today, finished_at=today))
    assert plain.acceleration == "hardware"
    assert prune("--older-than", "30", "--no-keep-latest", "--confirm", capsys=capsys).startswith(
        "1 run deleted"
    )
    plain.refresh_from_db()
    assert plain.acceleration == "unknown"


@pytest.mark.usefixtures("published")
def test_new_runs_waiting_runs_and_those_of_pages_stay(
    history: list[Run], store_run: StoreRun, capsys: pytest.CaptureFixture[str]
) -> None:
    others = list(Run.objects.exclude(pk__in=[run.pk for run in history]))
    Run.objects.filter(pk=history[1].pk).update(status=Run.Status.ACCEPTED)
    Run.objects.filter(pk=history[3].pk).update(hidden=True)
    rejected = store_run(run_document(finished_at="2020-01-01T00:00:00Z"))
    prune("--older-than", "30", "--no-keep-latest", "--confirm", capsys=capsys)
    expected = {run.pk for run in (*others, history[1], rejected)}
    assert set(kept()) == expected


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
    call_command("prune_runs", "--confirm")
    assert len(kept()) == 6


def test_a_pass_that_would_delete_more_than_a_tenth_stops_until_it_is_confirmed(
    history: list[Run],
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings.CIPHERMARK_KEEP_DAYS = 30
    tasks.prune_old_runs()
    assert "4 of 6 runs began before" in caplog.text
    with pytest.raises(CommandError, match=r"nothing was deleted.*prune_runs --confirm"):
        call_command("prune_runs")
    assert len(kept()) == 6
    assert prune("--confirm", capsys=capsys).startswith("4 runs deleted")
