"""What goes on at a site: agents that upload, people who look at pages."""

import gzip
import http.client
import itertools
import json
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from tests.bench.fleet.documents import assembled, without_measurements
from tests.bench.fleet.plan import Plan
from tests.bench.fleet.size import SIZES
from tests.sample_documents import openssl_measurement, run_document

TIMEOUT_SECONDS = 30
HOST = re.compile(rb'href="(/hosts/[0-9]+/)"')


@dataclass
class Answers:
    """Seconds that answers took, by their moment (`time.monotonic`), and what went wrong."""

    times: list[tuple[float, float]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def between(self, begin: float, end: float) -> list[float]:
        """Of one part of the time."""
        return [seconds for moment, seconds in self.times if begin <= moment < end]


@dataclass
class Acting:
    """Threads that act until `stop` is set."""

    url: str
    stop: threading.Event = field(default_factory=threading.Event)
    uploads: Answers = field(default_factory=Answers)
    pages: Answers = field(default_factory=Answers)
    uploaded: list[str] = field(default_factory=list)
    """Ids of runs, the newest last."""
    refused: int = 0
    """Requests that nobody answered while the site was away."""
    _is_away: bool = False

    @contextmanager
    def away(self) -> "Iterator[None]":
        """Meanwhile the site may answer nobody; agents ask again until it does."""
        self._is_away = True
        yield
        self._is_away = False

    def agents(
        self, token: str, runs: "Iterator[tuple[str, bytes]]", rate: float, count: int
    ) -> list[threading.Thread]:
        """So many agents that together upload these runs, so many a second."""
        due, lock = _Clock(rate), threading.Lock()

        def upload() -> None:
            while not self.stop.wait(due.wait()):
                with lock:
                    run_id, body = next(runs)
                if self.upload(body, token):
                    self.uploaded.append(run_id)

        return [_thread(upload) for _ in range(count)]

    def upload(self, body: bytes, token: str) -> bytes:
        """The answer to a document, nothing where it was not taken."""
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
        }
        while True:
            refused = self.refused
            answer = self._ask("/api/v1/runs/", self.uploads, headers, gzip.compress(body))
            if answer or self.refused == refused or self.stop.wait(1):
                return answer

    def readers(
        self,
        paths: Iterator[str],
        count: int,
        pause: float,
        headers: Mapping[str, str] | None = None,
    ) -> list[threading.Thread]:
        """So many people who look at these pages, each with a pause between two."""
        lock = threading.Lock()

        def look() -> None:
            while not self.stop.wait(pause):
                with lock:
                    path = next(paths)
                host = HOST.search(self._ask(path, self.pages, headers))
                if host:
                    self._ask(host[1].decode(), self.pages)

        return [_thread(look) for _ in range(count)]

    def _ask(
        self,
        path: str,
        answers: Answers,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> bytes:
        """The answer's body, or nothing where it is no good one."""
        request = urllib.request.Request(self.url + path, body, dict(headers or {}))
        begun = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                found: bytes = answer.read()
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            if self._is_away and not isinstance(error, urllib.error.HTTPError):
                self.refused += 1
            else:
                answers.failures.append(f"{path}: {error}")
            return b""
        answers.times.append((begun, time.monotonic() - begun))
        return found


def _thread(act: Callable[[], None]) -> threading.Thread:
    return threading.Thread(target=act, daemon=True)


class _Clock:
    """Hands out moments at a rate, to whoever asks; a late one is due at once."""

    def __init__(self, rate: float) -> None:
        self._step, self._next, self._lock = 1 / rate, time.monotonic(), threading.Lock()

    def wait(self) -> float:
        """Seconds until the next moment."""
        with self._lock:
            self._next += self._step
            return max(0.0, self._next - time.monotonic())


def runs_of(prefix: str) -> Iterator[tuple[str, bytes]]:
    """Ids and documents of runs of a small fleet whose hosts' names begin so, measured just now."""
    plan = Plan(SIZES["tiny"])
    for planned in itertools.cycle(plan.runs):
        run_id, now = str(uuid4()), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        document = {
            **without_measurements(plan, planned),
            "run_id": run_id,
            "started_at": now,
            "finished_at": now,
            "host": {"name": f"{prefix}-{planned.host.number}", "machine_id": None},
        }
        document.pop("times_of", None)
        yield run_id, assembled(document, planned.host.kind).body


BEFORE, AFTER = 5, 3
"""Runs of a host before it becomes slower, and after: the third of these confirms it."""


def slower_hosts() -> Iterator[tuple[str, list[bytes]]]:
    """Hosts by name, and the documents of their runs, of which the last are half as fast."""
    for number in itertools.count():
        name, now = f"slower-{number}", datetime.now(UTC)
        bodies = []
        for place in range(BEFORE + AFTER):
            rate = (4e9 if place < BEFORE else 2e9) * (1 + 0.002 * (place % 3))
            started = now - timedelta(hours=BEFORE + AFTER - place)
            document = run_document(
                openssl_measurement("aes-128-gcm", rate),
                host={"name": name},
                conditions=[],
                started_at=started.isoformat(),
                finished_at=(started + timedelta(minutes=4)).isoformat(),
            )
            bodies.append(json.dumps(document).encode())
        yield name, bodies
