"""A worker is killed in the middle of a new profile; the next one goes on where it was."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from ingest.processing.speed_indices import CHUNK_RUNS
from tests.live_site import PROJECT, READY_WITHIN, LiveSite, live_site

RUNS = 4 * CHUNK_RUNS

PUBLISHED = 23
"""Runs of the published data set, all of them ready."""

MANY_RUNS = """
from django.db import connection
from store.models import Run
template = Run.objects.filter(baseline_levels__isnull=False).order_by("pk")[0]
columns = ", ".join(
    field.column for field in Run._meta.concrete_fields if field.name not in ("id", "run_id")
)
with connection.cursor() as cursor:
    cursor.execute(
        f"INSERT INTO runs_run (run_id, {columns}) SELECT gen_random_uuid(), {columns} "
        "FROM runs_run, generate_series(1, RUNS) WHERE id = %s", [template.pk])
    cursor.execute(
        "INSERT INTO runs_baselinelevel (run_id, tool, family, level) "
        "SELECT r.id, b.tool, b.family, b.level * (1 + r.id %% 7) FROM runs_run r, "
        "runs_baselinelevel b WHERE b.run_id = %s AND r.id > "
        "(SELECT max(id) FROM runs_run) - RUNS", [template.pk])
"""

MAKE = """
from profiles.making import ProfileRequest, make_profile
from ingest.tasks import enqueue_profile
profile = make_profile(ProfileRequest("killed", "fleet"))
enqueue_profile(profile.pk)
"""

COUNT = """
from store.models import RunSpeedIndex
indices = RunSpeedIndex.objects.filter(profile__name="killed")
print(indices.count(), indices.values("run").distinct().count())
"""


DONE_BEFORE = 2 * CHUNK_RUNS
"""Runs that the first worker can do."""

HELD = """
SELECT FROM runs_run WHERE id = (SELECT id FROM runs_run ORDER BY id OFFSET %s LIMIT 1) FOR UPDATE
"""


@pytest.fixture(scope="module")
def site() -> Iterator[LiveSite]:
    with live_site("profiles") as running:
        yield running


def run(site: LiveSite, program: str) -> str:
    return site.manage("shell", "--no-imports", "-c", program)


def wait_for(site: LiveSite, wanted: Any) -> dict[str, Any]:
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline:
        profile: dict[str, Any] = site.get("/api/v1/reference-profiles/killed/")
        if wanted(profile):
            return profile
        time.sleep(0.02)
    raise AssertionError(f"not within {READY_WITHIN} s: {profile}")


@contextmanager
def held_up(site: LiveSite) -> Iterator[None]:
    """However fast a worker is, it comes to the run after `DONE_BEFORE` and no further."""
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        connection.execute(HELD, [DONE_BEFORE])
        yield


def test_a_killed_worker_is_followed_by_one_that_goes_on(site: LiveSite) -> None:
    run(site, MANY_RUNS.replace("RUNS", str(RUNS)))
    with held_up(site):
        run(site, MAKE)
        stopped = wait_for(site, lambda profile: profile["progress"]["done"] >= DONE_BEFORE)
        os.killpg(site.worker.pid, signal.SIGKILL)
    assert stopped["state"] == "computing"
    assert stopped["progress"] == {"done": DONE_BEFORE, "total": RUNS + PUBLISHED}
    worker = [sys.executable, "-m", "celery", "-A", "config.celery", "worker", "-c", "1"]
    follower = subprocess.Popen(worker, cwd=PROJECT / "backend", env=site.environment)
    try:
        finished = wait_for(site, lambda profile: profile["state"] == "ready")
    finally:
        follower.terminate()
        follower.wait(60)
    assert finished["progress"]["done"] == finished["progress"]["total"]
    indices, runs = run(site, COUNT).split()
    assert indices == runs
    assert int(runs) >= RUNS
