"""The real site for browser tests: web server and worker as processes on embedded servers."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.embedded import release_services, start_services, stop_unused

PROJECT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
READY_SECONDS = 60.0
PROCESSED_SECONDS = 60.0


@dataclass
class LiveSite:
    """A running site with the published figures; everything it starts ends with it."""

    data_dir: Path
    port: int
    _environment: dict[str, str]
    _parts: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where the site is, without a slash at the end."""
        return f"http://{HOST}:{self.port}"

    def manage(self, *arguments: str) -> str:
        """Run a Django command and return what it prints."""
        done = subprocess.run(
            [sys.executable, PROJECT / "manage.py", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def token(self, scope: str = "upload") -> str:
        """A new token."""
        return self.manage("create_token", "browser-tests", "--scope", scope)

    def start_part(self, name: str, *arguments: str) -> None:
        """Start a process of the site, in a group of its own."""
        with (self.data_dir / f"{name}.log").open("wb") as log:
            self._parts[name] = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=PROJECT / "backend",
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @contextmanager
    def worker_paused(self) -> Iterator[None]:
        """The worker stands still inside: runs stay accepted."""
        group = self._parts["worker"].pid
        os.killpg(group, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(group, signal.SIGCONT)

    def upload(self, document: Mapping[str, Any], token: str) -> str:
        """Upload a run document; its run id."""
        request = urllib.request.Request(
            f"{self.url}/api/v1/runs/",
            json.dumps(document).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return str(json.load(answer)["run_id"])

    def read(self, path: str) -> Any:
        """What the API answers; the site is public."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=20) as answer:
            return json.load(answer)

    def wait_until_processed(self, run_id: str) -> None:
        """Wait for a run to be ready; rejected is a failure."""
        deadline = time.monotonic() + PROCESSED_SECONDS
        while (run := self.read(f"/api/v1/runs/{run_id}/"))["status"] == "accepted":
            assert time.monotonic() < deadline, f"run {run_id} was not processed in time"
            time.sleep(0.1)
        assert run["status"] == "ready", run["rejection"]

    def wait_until_ready(self) -> None:
        """Wait for database, Redis and worker."""
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_ready():
            for name, part in self._parts.items():
                assert part.poll() is None, (self.data_dir / f"{name}.log").read_text()
            assert time.monotonic() < deadline, (self.data_dir / "worker.log").read_text()
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:
                return int(answer.status) == 200
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> None:
        """End every part and give the servers up."""
        for part in self._parts.values():
            os.killpg(part.pid, signal.SIGTERM)
        for part in self._parts.values():
            try:
                part.wait(timeout=15)
            except subprocess.TimeoutExpired:
                os.killpg(part.pid, signal.SIGKILL)
                part.wait()
        release_services(self.data_dir)
        stop_unused(self.data_dir)
        shutil.rmtree(self.data_dir, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def start_site() -> LiveSite:
    """Start the site on a free port with a data folder of its own."""
    # A short path: a socket's may have about 100 characters.
    data_dir = Path("/tmp") / f"cm-site-{os.getpid()}"
    data_dir.mkdir()
    services = start_services(data_dir)
    environment = {
        **os.environ,
        "CIPHERMARK_DATA_DIR": str(data_dir),
        "CIPHERMARK_PUBLIC": "1",
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    site = LiveSite(data_dir, _free_port(), environment)
    for command in ("migrate", "load_published"):
        site.manage(command)
    site.manage("collectstatic", "--no-input")
    address = f"{HOST}:{site.port}"
    site.start_part(
        "web", "gunicorn", "config.wsgi:application", "--bind", address,
        "--worker-class", "gthread", "--threads", "4", "--no-control-socket",
    )  # fmt: skip
    site.start_part("worker", "celery", "-A", "config.celery", "worker", "--concurrency", "1")
    return site
