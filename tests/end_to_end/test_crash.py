import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from config.embedded.postgres import Postgres
from config.embedded.redis_server import RedisServer
from tests.launch.tools import free_port, private_folder, within
from tests.production_shape import PROJECT, command_of
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

UPLOADS = 200
CLIENTS = 4
# Duration of the uploads, during which each process is killed once
SECONDS = 10.0

STORED = """
SELECT run_id::text, status, (SELECT count(*) FROM runs_measurement WHERE run_id = r.id)
FROM runs_run r
"""


def production_settings(folder: Path, postgres: Postgres, redis: RedisServer) -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{PROJECT / 'backend'}{os.pathsep}{PROJECT}",
        "DJANGO_SETTINGS_MODULE": "tests.impatient_settings",
        "CIPHERMARK_ENV": "production",
        "CIPHERMARK_SECRET_KEY": secrets.token_urlsafe(48),
        "CIPHERMARK_ALLOWED_HOSTS": "127.0.0.1",
        "CIPHERMARK_SSL_REDIRECT": "0",
        "CIPHERMARK_DATA_DIR": str(folder),
        "DATABASE_URL": postgres.ensure_running(),
        "REDIS_URL": redis.ensure_running(),
    }


class Supervised:
    """Restart a program of the site whenever the program ends, like Compose."""

    def __init__(self, name: str, command: list[str], settings: dict[str, str]) -> None:
        self._command, self._settings = command, settings
        self._log = Path(settings["CIPHERMARK_DATA_DIR"]) / f"{name}.log"
        self._over = threading.Event()
        self._process = self._start()
        self._watching = threading.Thread(target=self._watch)
        self._watching.start()

    def _start(self) -> "subprocess.Popen[bytes]":
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._command,
                cwd=PROJECT,
                env=self._settings,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            if self._process.poll() is not None:
                self._process = self._start()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        self._over.set()
        self._watching.join()
        self.kill()
        self._process.wait()


def kill_server(server: Postgres | RedisServer) -> None:
    process = server.process()
    assert process is not None
    process.kill()
    process.wait(30)
    server.ensure_running()


@contextmanager
def running_site() -> Iterator[tuple[int, dict[str, str], dict[str, Callable[[], None]]]]:
    """Run a site. Yield the port, the environment variables, and functions that kill processes.

    The keys of the functions are names of processes, such as "postgres" and "web".
    """
    with private_folder() as place, ExitStack() as stack:
        folder, port = place / "site", free_port()
        folder.mkdir()
        postgres, redis = Postgres(folder), RedisServer(folder)
        stack.callback(postgres.stop)
        stack.callback(redis.stop)
        settings = production_settings(folder, postgres, redis)
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(migrate, cwd=PROJECT, env=settings, check=True)
        kills = {
            "postgres": lambda: kill_server(postgres),
            "redis": lambda: kill_server(redis),
        }
        for name in ("web", "worker", "beat"):
            words = command_of(name, folder)
            words = [word.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for word in words]
            program = Supervised(name, words, settings)
            stack.callback(program.end)
            kills[name] = program.kill
        assert within(60, lambda: is_ready(port))
        yield port, settings, kills


def is_ready(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
        return bool(answer.status == 200)
    return False


def status_of_upload(port: int, token: str, body: bytes) -> int | None:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with closing(connection), suppress(OSError, http.client.HTTPException):
        connection.request("POST", "/api/v1/runs/", body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    return None


def upload(port: int, token: str, document: dict[str, Any]) -> None:
    # Retry like the agent until the server acknowledges the run.
    body, deadline = json.dumps(document).encode(), time.monotonic() + 60
    while (status := status_of_upload(port, token, body)) not in (200, 202):
        assert status in (None, 503), status
        assert time.monotonic() < deadline, "not acknowledged"
        time.sleep(0.3)


def documents() -> list[dict[str, Any]]:
    return [
        run_document(
            ssh_measurement("aes128-ctr", 1e8 + number),
            openssl_measurement("aes-128-gcm", 4e9 + number),
            host={"name": f"machine-{number % 40}", "machine_id": f"{number % 40:064x}"},
            started_at=f"2025-10-{1 + number // 60:02}T10:{number % 60:02}:00Z",
            finished_at=f"2025-10-{1 + number // 60:02}T10:{number % 60:02}:50Z",
        )
        for number in range(UPLOADS)
    ]


def test_nothing_acknowledged_is_lost_or_counted_twice_when_every_part_is_killed() -> None:
    with running_site() as (port, settings, kills):
        command = [sys.executable, "manage.py", "create_token", "agents", "--scope", "upload"]
        token = subprocess.run(
            command, cwd=PROJECT, env=settings, capture_output=True, text=True, check=True
        ).stdout.strip()
        sent = documents()

        def upload_share(number: int) -> None:
            own = sent[number::CLIENTS]
            for document in own:
                upload(port, token, document)
                time.sleep(SECONDS / len(own))

        with ThreadPoolExecutor(CLIENTS) as clients:
            uploading = [clients.submit(upload_share, number) for number in range(CLIENTS)]
            for name in ("worker", "web", "postgres", "redis"):
                time.sleep(SECONDS / 5)
                kills[name]()
            for share in uploading:
                share.result()

        with psycopg.connect(settings["DATABASE_URL"], autocommit=True) as database:
            waiting = "SELECT NOT EXISTS (SELECT FROM runs_run WHERE status = 'accepted')"
            assert within(60, lambda: database.execute(waiting).fetchone() == (True,))
            found = Counter(database.execute(STORED).fetchall())
        assert found == Counter((document["run_id"], "ready", 2) for document in sent)
        assert within(30, lambda: is_ready(port))
