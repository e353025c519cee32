"""The real site as processes: gunicorn and a Celery worker on servers and a database of its own."""

import json
import os
import signal
import socket
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

PROJECT = Path(__file__).parent.parent
REDIS_DATABASES = {"browser": 1, "profiles": 2, "upload": 3, "soak": 4, "slow": 5}
"""Every site by its name: parts of the suite that run at once have nothing in common."""

READY_WITHIN = 60
"""Seconds; the machines that run the tests are shared and slow at times."""


SIGN_IN = """
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
user = User.objects.filter(username="root").first() or User.objects.create_superuser("root")
session = SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.create()
print(session.session_key)
"""

SHARE = """
from runs.audit import COMMAND
from runs.shares import make_share
query = "group_by=os&source=published"
print(make_share("report", query, 30, made_by=None, by=COMMAND)[1])
"""


@dataclass(frozen=True, eq=False)
class LiveSite:
    """A running site: its URL, its processes' environment, and the worker's process."""

    url: str
    environment: dict[str, str]
    worker: subprocess.Popen[bytes]

    def manage(self, *arguments: str) -> str:
        """The output of a management command on this site."""
        return _manage(self.environment, *arguments)

    def token(self, scope: str) -> str:
        """A new API token."""
        return self.manage("create_token", f"test-{scope}-{uuid4()}", "--scope", scope).strip()

    def session_key(self) -> str:
        """The session cookie of an administrator who has signed in."""
        return self.manage("shell", "--no-imports", "-c", SIGN_IN).strip()

    @cache  # noqa: B019 - a session's few sites
    def share(self) -> str:
        """The path of an unlisted link to a view of the published figures."""
        secret = self.manage("shell", "--no-imports", "-c", SHARE).strip()
        return f"/shares/{secret}/"

    def get(self, path: str) -> Any:
        """The JSON at a path of the site, read without a token: the site is public."""
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return json.load(answer)

    def wait_until_ready(self, run_id: str) -> dict[str, Any]:
        """The run, once the worker has ended with it."""
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _database(name: str) -> Iterator[str]:
    """A new, empty database on the embedded server; its URL."""
    url = settings.DATABASE_URL
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield url.replace("/ciphermark", f"/{name}", 1)
    finally:
        drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(drop)


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
    """A gunicorn with this environment; its URL, once it answers."""
    port = _free_port()
    # Its control socket would lie in the home folder, one for all gunicorns of the account.
    bind = ("--bind", f"127.0.0.1:{port}", "--threads", "4", "--no-control-socket")
    kind = ("--worker-class", "config.gunicorn_worker.BoundedWorker", *options)
    with _process(name, environment, "gunicorn", *bind, *kind, "config.wsgi:application"):
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/healthz")
        yield url


def _wait_for(url: str) -> None:
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
def live_site(name: str) -> Iterator[LiveSite]:
    """Start a public site with the published figures; everything ends with the context."""
    with ExitStack() as stack:
        database_url = stack.enter_context(_database(f"live_{name}_{os.getpid()}"))
        folder = settings.DATA_DIR / f"live-{name}"
        folder.mkdir(parents=True, exist_ok=True)
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": database_url,
            # A Redis database of its own, so that no other worker takes this site's tasks.
            "REDIS_URL": settings.REDIS_URL.replace("db=0", f"db={REDIS_DATABASES[name]}"),
            "CIPHERMARK_DATA_DIR": str(folder),
            "CIPHERMARK_PUBLIC": "1",
            # Tests ask faster than people.
            "CIPHERMARK_ADDRESS_RATE": "0",
        }
        for command in (("migrate",), ("collectstatic", "--noinput"), ("load_published",)):
            _manage(environment, *command)
        worker = stack.enter_context(
            _process("worker", environment, "celery", "-A", "config.celery", "worker", "-c", "1")
        )
        url = stack.enter_context(web_server("web", environment))
        _wait_for(f"{url}/readyz")
        yield LiveSite(url, environment, worker)
