"""Run real sites, each with gunicorn, a Celery worker and a separate database."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from django.conf import settings
from psycopg import sql

from accounts.tokens import PREFIX, digest_of
from tests.launch.tools import free_port
from tests.settings import SHARED_DIR, redis_url
from tests.sign_in import SIGN_IN

PROJECT = Path(__file__).parent.parent
# Each site has a Redis database, so that no other worker takes the tasks of the site.
_free_redis_databases = list(range(7, 0, -1))

# Seconds for a site to start. The test hosts are shared and sometimes slow.
READY_WITHIN = 120

SHARE = """
from accounts.audit import COMMAND
from compare.shares import make_share
query = "group_by=os&source=published"
print(make_share("report", query, 30, made_by=None, by=COMMAND)[1])
"""


# The command `create_token` takes seconds to start.
NEW_TOKEN = """
INSERT INTO accounts_apitoken (name, scope, digest, host_name, created_at)
VALUES (%s, %s, %s, '', now())
"""

PREPARE = """
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("load_published", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
"""


@dataclass(frozen=True, eq=False)
class LiveSite:
    url: str
    environment: dict[str, str]
    worker: subprocess.Popen[bytes]

    def manage(self, *arguments: str) -> str:
        return _manage(self.environment, *arguments)

    def token(self, scope: str) -> str:
        secret = f"{PREFIX}{uuid4()}"
        row = (f"test-{uuid4()}", scope, digest_of(secret))
        with psycopg.connect(self.environment["DATABASE_URL"]) as connection:
            connection.execute(NEW_TOKEN, row)
        return secret

    def session_key(self) -> str:
        return self.manage("shell", "--no-imports", "-c", SIGN_IN).strip()

    @cache  # noqa: B019 - a session's few sites
    def share(self) -> str:
        secret = self.manage("shell", "--no-imports", "-c", SHARE).strip()
        return f"/shares/{secret}/"

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=READY_WITHIN) as answer:
            return json.load(answer)

    def wait_until_ready(self, run_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline:
            run: dict[str, Any] = self.get(f"/api/v1/runs/{run_id}/")
            if run["status"] != "accepted":
                return run
            time.sleep(0.1)
        raise AssertionError(f"the run is still accepted after {READY_WITHIN} s")


def _manage(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _on_the_server(statement: str, **names: str) -> None:
    composed = sql.SQL(statement).format(
        **{key: sql.Identifier(name) for key, name in names.items()}
    )
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
        connection.execute(composed)


def database_of(site: str) -> str:
    return f"live_{site}_{os.getpid()}"


def url_of(database: str) -> str:
    url: str = settings.DATABASE_URL
    return url.replace("/ciphermark", f"/{database}", 1)


def environment_of(name: str, folder: Path) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.impatient_settings",
        "PYTHONPATH": f"{PROJECT / 'backend'}{os.pathsep}{PROJECT}",
        "DATABASE_URL": url_of(name),
        "CIPHERMARK_DATA_DIR": str(folder),
        "CIPHERMARK_PUBLIC": "1",
        # Tests send more requests per minute than users.
        "CIPHERMARK_ADDRESS_RATE": "0",
    }


@cache
def _prepared() -> tuple[str, Path]:
    """Return the database and the folder with static files that each site copies.

    The database contains the published results. The first pytest-xdist worker creates the database
    and the folder. The other workers wait.
    """
    name, folder = "live_prepared", SHARED_DIR / "live-prepared"
    environment = environment_of(name, folder)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    with (folder / "of-run").open("a+") as marker:
        fcntl.flock(marker, fcntl.LOCK_EX)
        marker.seek(0)
        if marker.read() != run:
            marker.truncate(0)
            _on_the_server("DROP DATABASE IF EXISTS {name} WITH (FORCE)", name=name)
            _on_the_server("CREATE DATABASE {name}", name=name)
            command = [sys.executable, "-c", PREPARE]
            subprocess.run(command, env=environment, cwd=PROJECT / "backend", check=True)
            marker.write(run)
    return name, folder / "static"


@contextmanager
def _database(name: str, template: str) -> Iterator[None]:
    _on_the_server("CREATE DATABASE {name} TEMPLATE {template}", name=name, template=template)
    try:
        yield
    finally:
        _on_the_server("DROP DATABASE {name} WITH (FORCE)", name=name)


@contextmanager
def _process(name: str, environment: dict[str, str], *command: str) -> Iterator[Any]:
    log = Path(environment["CIPHERMARK_DATA_DIR"]) / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=PROJECT / "backend",
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def web_server(name: str, environment: dict[str, str], *options: str) -> Iterator[str]:
    port = free_port()
    # Several web servers share a data folder here.
    environment = {
        **environment,
        "PROMETHEUS_MULTIPROC_DIR": f"{environment['CIPHERMARK_DATA_DIR']}/{name}-metrics",
    }
    kind = ("-c", "python:config.gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "1")
    with _process(name, environment, "gunicorn", *kind, *options, "config.wsgi:application"):
        url = f"http://127.0.0.1:{port}"
        wait_for_answer(f"{url}/healthz")
        yield url


def wait_for_answer(url: str) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError) as error:
            if time.monotonic() > deadline:
                raise AssertionError(f"{url}: {error}") from error
            time.sleep(0.2)


@contextmanager
def live_site(name: str, **variables: str) -> Iterator[LiveSite]:
    """Start a public site with the published results. `variables`: more environment variables."""
    prepared, static = _prepared()
    database, folder = database_of(name), settings.DATA_DIR / f"live-{name}"
    with ExitStack() as stack:
        stack.enter_context(_database(database, prepared))
        environment = {**environment_of(database, folder), **variables}
        number = _free_redis_databases.pop()
        stack.callback(_free_redis_databases.append, number)
        environment["REDIS_URL"] = redis_url(number)
        shutil.copytree(static, folder / "static", dirs_exist_ok=True)
        yield stack.enter_context(machine(environment))


@contextmanager
def notifier(environment: dict[str, str]) -> Iterator[None]:
    command = ("celery", "-A", "config.celery", "worker", "-c", "1", "-Q", "notifications")
    with _process("notifier", environment, *command, "--hostname", "notifier@%h"):
        yield


@contextmanager
def machine(environment: dict[str, str]) -> Iterator[LiveSite]:
    """Start a web server and a worker for a site. `environment`: environment variables."""
    worker = _process(
        "worker", environment, "celery", "-A", "config.celery", "worker", "-B", "-c", "1"
    )
    with worker as process, web_server("web", environment) as url:
        wait_for_answer(f"{url}/readyz")
        yield LiveSite(url, environment, process)
