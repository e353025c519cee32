"""docs/upgrading.md with two web servers: whoever reads or uploads meanwhile notices nothing."""

import http.client
import json
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.chaos.proxy import CuttingProxy
from tests.launch.conftest import HOST
from tests.launch.documented_site import (
    Site,
    commit_all,
    make_origin,
    make_programs,
    production_settings,
)
from tests.launch.proxies import caddy, nginx, running, scale
from tests.launch.tools import free_port, within
from tests.sample_documents import run_document

PAUSE_SECONDS = 0.2
PATHS = ("/", "/hosts/", "/api/v1/comparison/?tool=ssh&group_by=cpu")


UPDATE = (
    "git pull",
    "docker compose build",
    "docker compose run --rm migrate",
    "docker compose run --rm --no-deps worker python manage.py analytics --snapshot",
    "docker compose up -d --no-deps --wait web",
    "docker compose up -d --no-deps --wait web2",
    "docker compose up -d",
    "docker compose exec web python manage.py doctor",
)


@pytest.fixture(scope="module")
def site(production: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One with both web servers."""
    folder = tmp_path_factory.mktemp("servers")
    make_programs(folder / "programs")
    site = Site.on_a_new_machine(production, 1, make_origin(folder))
    site.types("cp .env.example .env")
    site.fill_in(
        site.clone / ".env",
        **production_settings(),
        COMPOSE_PROFILES="second-web",
        CIPHERMARK_ADDRESS_RATE="0",
        POSTGRES_PASSWORD="one",
        REDIS_PASSWORD="two",
    )
    site.types("docker compose up -d")
    assert within(180, site.is_ready)
    yield site
    site.succeeds("docker compose stop web web2 worker beat")


@dataclass
class Visitors:
    """A reader and an agent, each with one request after another through the proxy."""

    port: int
    certificate: Path
    token: str
    read: list[tuple[str, int]] = field(default_factory=list)
    uploaded: list[tuple[str, int]] = field(default_factory=list)
    """Path or run, and the status of the answer."""
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._context = ssl.create_default_context(cafile=str(self.certificate))

    def __enter__(self) -> "Visitors":
        self._threads = [threading.Thread(target=one) for one in (self._read, self._upload)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join()

    def ask(self, method: str, path: str, document: Any = None) -> int:
        """The status of one answer; 0 for none."""
        connection = http.client.HTTPSConnection(HOST, timeout=60)
        body = json.dumps(document) if document else None
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            plain = socket.create_connection(("127.0.0.1", self.port), timeout=60)
            connection.sock = self._context.wrap_socket(plain, server_hostname=HOST)
            connection.request(method, path, body, headers if document else {})
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def come(self) -> None:
        """Return when each has been answered once more."""
        before = len(self.read), len(self.uploaded)
        assert within(60, lambda: len(self.read) > before[0] and len(self.uploaded) > before[1])

    def _read(self) -> None:
        for path in cycle(PATHS):
            if self.over.wait(PAUSE_SECONDS):
                return
            self.read.append((path, self.ask("GET", path)))

    def _upload(self) -> None:
        while not self.over.wait(PAUSE_SECONDS):
            document = run_document()
            status = self.ask("POST", "/api/v1/runs/", document)
            self.uploaded.append((document["run_id"], status))


def test_every_request_is_answered_while_the_site_is_updated(site: Site, tmp_path: Path) -> None:
    token = site.manages("manage.py create_token NAME --scope upload", NAME="a")
    before = site.processes()
    (site.origin / "news").touch()
    commit_all(site.origin)
    with ExitStack() as stack:
        # As Docker's own proxy: while a container starts it takes connections and drops them.
        names = ("SITE_PORT", "SECOND_SITE_PORT")
        published = [CuttingProxy(int(site.environment[name]), seed=1) for name in names]
        first, second = (stack.enter_context(one).port for one in published)
        groups = []
        for prepare in (nginx, caddy, scale):
            folder, port = tmp_path / prepare.__name__, free_port()
            folder.mkdir()
            stack.enter_context(running(prepare(folder, port, (first, second)), folder))
            groups.append(Visitors(port, folder / "certificate.pem", token.strip()))
        assert within(60, lambda: {one.ask("GET", "/healthz") for one in groups} == {200})
        groups = [stack.enter_context(visitors) for visitors in groups]
        for line in UPDATE:
            for visitors in groups:
                visitors.come()
            assert within(120, site.is_ready)
            site.types(line)
        for visitors in groups:
            visitors.come()
    after = site.processes()
    assert all(after[name] != before[name] for name in ("web", "web2", "worker", "beat"))
    with psycopg.connect(site.environment["DATABASE_URL"]) as server:
        stored = {str(one) for (one,) in server.execute("SELECT run_id FROM runs_run")}
    for visitors in groups:
        assert {status for _, status in visitors.read} == {200}, Counter(visitors.read)
        # 200: stored by a server whose answer was lost, and sent to the other one again.
        assert {status for _, status in visitors.uploaded} <= {200, 202}
        assert {run_id for run_id, _ in visitors.uploaded} <= stored
