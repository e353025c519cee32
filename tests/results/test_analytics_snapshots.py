"""Snapshots of the analytics copy: processes start from them, and pass over broken ones."""

import logging
import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from boto3.s3.transfer import S3Transfer
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django.fixtures import Settings
from s3transfer.exceptions import RetriesExceededError

from config.analytics import snapshots_url
from ingest.edits.recompute import delete_runs
from results.analytics import shared_snapshots
from results.analytics.engine import engine
from results.analytics.maintenance import snapshot_age, snapshot_lag
from results.analytics.snapshot import NEWEST, VERSION, fetch_snapshot
from results.comparison.comparison import compare
from results.selection import ComparisonQuery
from store.data_version import data_version
from store.models import Environment
from tests.conftest import Bucket, StoreRun
from tests.launch.tools import free_port
from tests.sample_documents import environment, run_document, ssh_measurement

OLD, YOUNG = 15 * 10**17, time.time_ns() - 60 * 10**9
"""Moments of snapshots, ns."""


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path, transactional_db: None) -> Iterator[Path]:
    """Where snapshots are, empty; and no copy left of another test."""
    settings.ANALYTICS_DIR = tmp_path / "with ' quote"
    engine().forget()
    cache.delete(NEWEST)
    yield settings.ANALYTICS_DIR
    engine().forget()


def ctr(rate: float, name: str = "a") -> dict[str, Any]:
    return run_document(ssh_measurement("aes128-ctr", rate), host={"name": name})


def medians() -> list[float]:
    groups = compare(ComparisonQuery(group_by="host", metric="throughput")).groups
    return [group.values["aes128-ctr"].median for group in groups]


def messages(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(record.getMessage() for record in caplog.records)


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the copy logs."""
    caplog.set_level(logging.INFO, logger="results.analytics")
    return caplog


def test_a_process_starts_from_the_snapshot_and_what_has_changed_since(
    store_run: StoreRun, said: pytest.LogCaptureFixture
) -> None:
    store_run(ctr(1e8))
    gone = store_run({**ctr(2e8, "b"), "environment": environment(model="Gone")})
    call_command("analytics", "--snapshot")
    store_run(ctr(3e8, "c"))
    delete_runs([gone])
    Environment.objects.filter(runs__isnull=True).delete()
    assert medians() == [1e8, 3e8]
    assert "snapshot read" in messages(said)
    call_command("analytics", "--check")


def test_nothing_is_written_while_nothing_changes_and_old_ones_are_removed(
    store_run: StoreRun, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = ("backups", f"{VERSION}-backup", "5-months")
    for name in ("part-of-a-killed-process", f"0-{OLD}", *others):
        left = folder / name
        left.mkdir(parents=True)
        os.utime(left, (0, 0))
    for number in range(4):
        store_run(ctr(1e8 + number))
        call_command("analytics", "--snapshot")
    call_command("analytics", "--snapshot")
    assert "Nothing has changed" in capsys.readouterr().out
    left_there = {path.name for path in folder.iterdir()}
    assert set(others) < left_there
    assert len(left_there) == len(others) + 2


@pytest.mark.parametrize(
    "damage", ("shortened", "a bit turned over", "without its state", "a table missing")
)
def test_a_damaged_snapshot_is_passed_over(
    store_run: StoreRun, folder: Path, damage: str, said: pytest.LogCaptureFixture
) -> None:
    store_run(ctr(1e8))
    call_command("analytics", "--snapshot")
    (made,) = folder.iterdir()
    if damage == "shortened":
        file = made / "result.parquet"
        file.write_bytes(file.read_bytes()[:-20])
    elif damage == "a bit turned over":
        file = made / "run.parquet"
        content = bytearray(file.read_bytes())
        content[10] ^= 1
        file.write_bytes(content)
    else:
        (made / ("state.json" if damage == "without its state" else "run.parquet")).unlink()
    assert medians() == [1e8]
    assert "cannot be read" in messages(said)


def test_a_snapshot_of_another_database_is_not_read(
    store_run: StoreRun, folder: Path, said: pytest.LogCaptureFixture
) -> None:
    store_run(ctr(1e8))
    call_command("analytics", "--snapshot")
    (state,) = folder.glob("*/state.json")
    state.write_text(state.read_text().replace('"epoch": "', '"epoch": "another-'))
    assert medians() == [1e8]
    assert "snapshot read" not in messages(said)


def test_check_finds_what_differs_and_rebuild_mends_it(
    store_run: StoreRun, capsys: pytest.CaptureFixture[str]
) -> None:
    run = store_run(ctr(1e8))
    call_command("analytics", "--snapshot")
    assert medians() == [1e8]
    with connection.cursor() as cursor:  # behind the back of the triggers
        cursor.execute("UPDATE runs_measurement SET median = 5e8 WHERE run_id = %s", [run.pk])
    with pytest.raises(CommandError):
        call_command("analytics", "--check")
    assert "result: 1 rows are missing, 1 are wrong" in capsys.readouterr().out
    assert medians() == [1e8]
    before = data_version()
    call_command("analytics", "--rebuild")
    assert medians() == [5e8]
    assert data_version() != before  # kept answers were of the copy that was wrong
    call_command("analytics", "--check")


def test_what_one_machine_wrote_another_one_starts_from(
    bucket: Bucket, store_run: StoreRun, said: pytest.LogCaptureFixture
) -> None:
    bucket.on_machine("worker")
    store_run(ctr(1e8))
    for rate in (2e8, 3e8, 4e8):
        call_command("analytics", "--snapshot")
        store_run(ctr(rate, f"host-{rate:.0f}"))
    newest = max(key.split("/")[2] for key in bucket.names() if key.endswith("state.json"))
    folder = bucket.on_machine("web") / "analytics"
    for left in (f"{VERSION}-{OLD}", f"{VERSION}-{OLD + 1}"):
        (folder / left).mkdir(parents=True)
    assert sorted(medians()) == [1e8, 2e8, 3e8, 4e8]
    assert sorted(path.name for path in folder.iterdir()) == [f"{VERSION}-{OLD + 1}", newest]
    assert "fetched" in messages(said)
    assert "snapshot read" in messages(said)
    engine().forget()
    bucket.on_machine("second worker")
    call_command("analytics", "--snapshot")
    call_command("analytics", "--check")


def test_a_bucket_may_hold_snapshots_alone(
    bucket: Bucket, store_run: StoreRun, said: pytest.LogCaptureFixture
) -> None:
    bucket.on_machine("worker", "", snapshots=snapshots_url(f"duckdb+{bucket.url}"))
    store_run(ctr(1e8))
    call_command("analytics", "--snapshot")
    assert {name.split("/")[1] for name in bucket.names()} == {"snapshots"}
    bucket.on_machine("web", "", snapshots=snapshots_url(f"duckdb+{bucket.url}"))
    assert medians() == [1e8]
    assert "fetched" in messages(said)


def test_processes_that_start_at_one_moment_all_start_from_it(
    bucket: Bucket, store_run: StoreRun, said: pytest.LogCaptureFixture
) -> None:
    bucket.on_machine("worker")
    store_run(ctr(1e8))
    call_command("analytics", "--snapshot")
    folder = bucket.on_machine("web") / "analytics"
    together = Barrier(3)

    def start(_: int) -> None:
        together.wait()
        fetch_snapshot()

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(start, range(3)))
    assert len(list(folder.iterdir())) == 1
    assert "done without" not in messages(said)
    assert medians() == [1e8]


def test_what_was_not_taken_is_brought_again_though_nothing_has_changed(
    bucket: Bucket, store_run: StoreRun
) -> None:
    bucket.on_machine(
        "worker", bucket.url.replace(bucket.server, f"http://127.0.0.1:{free_port()}")
    )
    store_run(ctr(1e8))
    call_command("analytics", "--snapshot")
    assert bucket.names() == []
    bucket.on_machine("worker")
    cache.delete(NEWEST)
    call_command("analytics", "--snapshot")
    assert any(name.endswith("state.json") for name in bucket.names())
    assert snapshot_age() is not None
    stored = bucket.names()
    call_command("analytics", "--snapshot")
    assert bucket.names() == stored


def test_old_shared_snapshots_go_and_nothing_else(bucket: Bucket, store_run: StoreRun) -> None:
    complete = f"{VERSION}-{OLD}/state.json"
    gone = [f"{VERSION}-{OLD - 1}/state.json", f"{VERSION}-{OLD + 1}/run.parquet"]
    gone += [f"3-{OLD}/state.json", f"12-{OLD}/state.json"]
    stay = [f"{VERSION}-{YOUNG}/run.parquet", f"3-{YOUNG}/state.json", complete]
    stay += ["notes.txt", "3-17/state.json", f"{VERSION}-{OLD}0/a", f"{VERSION}-{OLD}-backup/a"]
    stay += [f"٤-{OLD}/state.json", f"{VERSION}-{OLD}/somebody's own.txt"]
    bucket.put(*(f"site-1/snapshots/{name}" for name in (*gone, *stay)), "other")
    store_run(ctr(1e8))
    call_command("analytics", "--snapshot")

    def there() -> set[str]:
        return {name.removeprefix("site-1/snapshots/") for name in bucket.names()}

    assert {*stay, "other"} <= there(), "the last complete one stays until the next one is there"
    assert not there() & set(gone)
    store_run(ctr(2e8, "b"))
    call_command("analytics", "--snapshot")
    assert {*stay, "other"} - there() == {complete}


def test_who_watches_the_site_does_not_wait_for_the_object_storage(
    bucket: Bucket, store_run: StoreRun
) -> None:
    assert snapshot_age() is None
    bucket.on_machine("worker")
    store_run(ctr(1e8))
    call_command("analytics", "--snapshot")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, never answers
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        bucket.on_machine("web", bucket.url.replace(bucket.server, address))
        begun = time.monotonic()
        age = snapshot_age()
        with connection.cursor() as cursor:
            lag = snapshot_lag(cursor)
        assert time.monotonic() - begun < 2
    assert age is not None
    assert age < 60
    assert lag == 0


def test_a_rebuild_that_the_bucket_does_not_take_fails(bucket: Bucket, store_run: StoreRun) -> None:
    store_run(ctr(1e8))
    bucket.on_machine("worker", bucket.url.replace(bucket.server, "http://127.0.0.1:9"))
    with pytest.raises(CommandError, match="the object storage did not take it"):
        call_command("analytics", "--rebuild")
    bucket.on_machine("worker")
    call_command("analytics", "--rebuild")
    assert any(name.endswith("state.json") for name in bucket.names())


@pytest.mark.parametrize(
    "harm",
    ("cut", "without its state", "gone meanwhile", "away", "cut off", "too slow", "no folder"),
)
def test_a_shared_snapshot_that_is_none_is_done_without(
    harm: str,
    bucket: Bucket,
    store_run: StoreRun,
    said: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bucket.on_machine("worker")
    store_run(ctr(1e8))
    call_command("analytics", "--snapshot")
    state = next(key for key in bucket.names() if key.endswith("state.json"))
    result = state.replace("state.json", "result.parquet")
    url = bucket.url
    if harm == "cut":
        bucket.put(result)
    elif harm == "without its state":
        bucket.remove(state)
    elif harm == "gone meanwhile":
        bucket.remove(result)
    elif harm == "away":
        url = url.replace(bucket.server, f"http://127.0.0.1:{free_port()}")
    elif harm == "cut off":

        def cut_off(*_: object, **__: object) -> None:
            raise RetriesExceededError(ConnectionResetError())

        monkeypatch.setattr(S3Transfer, "download_file", cut_off)
    elif harm == "too slow":
        monkeypatch.setattr(shared_snapshots, "FETCH_SECONDS", 0.0)
    folder = bucket.on_machine("web", url)
    if harm == "no folder":
        folder.write_text("a file is in its place")
    assert medians() == [1e8]
    assert "snapshot read" not in messages(said)
    if harm == "no folder":
        folder.unlink()
    call_command("analytics", "--snapshot")
    call_command("analytics", "--check")
