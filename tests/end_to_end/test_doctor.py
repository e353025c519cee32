"""`manage.py doctor` on a real site, well and with one part after the other away."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.launch.tools import within
from tests.live_site import PROJECT, LiveSite, _process

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
        log = Path(site.environment["CIPHERMARK_DATA_DIR"]) / "beat.log"
        assert within(60, lambda: "beat: Starting" in log.read_text())
        deadline = time.monotonic() + 60
        while (found := doctor(site))[2]["beat"]["state"] != "ok" and time.monotonic() < deadline:
            time.sleep(1)
    status, state, checks = found
    for name in ("settings", "database", "migrations", "clock", "redis", "worker", "beat", "runs"):
        assert checks[name]["state"] == "ok", checks[name]
        assert checks[name]["to_do"] == ""
    assert checks["database"]["found"].startswith("PostgreSQL ")
    assert "celery@" in checks["worker"]["found"]
    assert status == (1 if state == "wrong" else 0)


def test_all_that_is_wrong_is_named_at_once_for_people(site: LiveSite) -> None:
    environment = {
        **site.environment,
        "DATABASE_URL": "postgresql://who:hush-hush@127.0.0.1:1/none",
        "REDIS_URL": "redis://:hush-hush@127.0.0.1:1/0",
        "CIPHERMARK_ALLOWED_HOSTS": "https://bench.example.org",
        "CIPHERMARK_PUBLC": "1",
    }
    command = [sys.executable, "manage.py", "doctor"]
    done = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    for found, to_do in (
        ("wrong    database       cannot be reached: ", "DATABASE_URL"),
        ("wrong    redis          cannot be reached: ", "Start Redis (make run)"),
        ("wrong    allowed hosts  'https://bench.example.org' is no host name", "without https://"),
        ("warning  settings       CIPHERMARK_PUBLC is no setting", "Correct"),
        ("warning  migrations     not checked", "See database."),
    ):
        said = re.search(rf"^{re.escape(found)}.*\n +-> (.*)", done.stdout, re.MULTILINE)
        assert said, done.stdout
        assert to_do in said[1]
    assert "mean CIPHERMARK_PUBLIC?" in done.stdout
    assert "hush-hush" not in done.stdout + done.stderr


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
