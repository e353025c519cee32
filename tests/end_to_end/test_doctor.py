"""`manage.py doctor` on a real site, well and with one part after the other away."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.live_site import PROJECT, LiveSite, _process

STATES = ["ok", "warning", "wrong"]

Checks = dict[str, dict[str, str]]


def doctor(site: LiveSite, **variables: str) -> tuple[int, str, Checks]:
    """Exit status, state of the whole, and what each check found."""
    command = [sys.executable, "manage.py", "doctor", "--json"]
    environment = {**site.environment, **variables}
    done = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, said["state"], {one["name"]: one for one in said["checks"]}


def test_a_site_that_is_well(site: LiveSite, tmp_path: Path) -> None:
    schedule = ("--schedule", str(tmp_path / "schedule"), "--pidfile", "")
    with _process("beat", site.environment, "celery", "-A", "config.celery", "beat", *schedule):
        time.sleep(1)
        deadline = time.monotonic() + 60
        while (found := doctor(site))[2]["beat"]["state"] != "ok" and time.monotonic() < deadline:
            time.sleep(1)
    _, _, checks = found
    for name in ("settings", "database", "migrations", "clock", "redis", "worker", "beat", "runs"):
        assert checks[name]["state"] == "ok", checks[name]
        assert checks[name]["to_do"] == ""
    assert checks["database"]["found"].startswith("PostgreSQL ")
    assert "celery@" in checks["worker"]["found"]


@pytest.mark.parametrize(
    ("variables", "name", "state", "found", "to_do"),
    (
        ({"DATABASE_URL": "postgresql://who:hush-hush@127.0.0.1:1/none"}, "database", "wrong",
            "cannot be reached", "DATABASE_URL"),
        ({"REDIS_URL": "redis://:hush-hush@127.0.0.1:1/0"}, "redis", "wrong",
            "cannot be reached", "REDIS_URL"),
        ({"CIPHERMARK_ALLOWED_HOSTS": "https://bench.example.org"}, "allowed hosts", "wrong",
            "is no host name", "without https://"),
        ({"CIPHERMARK_PUBLC": "1"}, "settings", "warning", "mean CIPHERMARK_PUBLIC?", "Correct"),
    ),
)  # fmt: skip
def test_what_is_wrong_and_what_to_do(
    site: LiveSite, variables: dict[str, str], name: str, state: str, found: str, to_do: str
) -> None:
    status, worst, checks = doctor(site, **variables)
    assert checks[name]["state"] == state
    assert found in checks[name]["found"]
    assert to_do in checks[name]["to_do"]
    assert status == (1 if worst == "wrong" else 0)
    assert STATES.index(worst) >= STATES.index(state)
    assert "hush-hush" not in json.dumps(checks)


def test_an_empty_database_and_a_redis_without_workers(site: LiveSite) -> None:
    empty = re.sub(r"/live_shared_\d+", "/postgres", site.environment["DATABASE_URL"])
    redis = site.environment["REDIS_URL"].replace("db=3", "db=15")
    _, _, checks = doctor(site, DATABASE_URL=empty, REDIS_URL=redis)
    assert "are not applied" in checks["migrations"]["found"]
    assert checks["runs"] == {
        "name": "runs",
        "state": "warning",
        "found": "not checked",
        "to_do": "See migrations.",
    }
    assert checks["worker"]["found"] == "none answered within 2 s"
    assert checks["beat"]["found"] == "has left no sign of life"


@pytest.mark.parametrize(("days", "state"), ((1, "ok"), (3, "warning"), (10, "wrong")))
def test_the_age_of_the_newest_backup(
    site: LiveSite, tmp_path: Path, days: int, state: str
) -> None:
    for age in (days, days + 1):
        path = tmp_path / f"ciphermark-{age}.dump"
        path.touch()
        os.utime(path, (time.time() - age * 86400,) * 2)
    _, _, checks = doctor(site, CIPHERMARK_BACKUPS_DIR=str(tmp_path))
    assert checks["backups"]["state"] == state
    old = "24 hours" if days == 1 else f"{days} days"
    assert f"is {old} old" in checks["backups"]["found"]


def test_lines_for_people(site: LiveSite) -> None:
    command = [sys.executable, "manage.py", "doctor"]
    environment = {**site.environment, "REDIS_URL": "redis://127.0.0.1:1/0"}
    done = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "\nwrong    redis          cannot be reached: " in done.stdout
    assert "-> Start Redis (make run)" in done.stdout
    assert "docker" not in done.stdout
