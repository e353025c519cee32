"""What goes on at a site: agents that upload, people who look at pages."""

import gzip
import itertools
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from tests.bench.fleet.documents import assembled, without_measurements
from tests.bench.fleet.plan import Plan
from tests.bench.fleet.size import SIZES

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

    def agents(
        self, token: str, runs: "Iterator[tuple[str, bytes]]", rate: float, count: int
    ) -> list[threading.Thread]:
        """So many agents that together upload these runs, so many a second."""
        due, lock = _Clock(rate), threading.Lock()
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
        }

        def upload() -> None:
            while not self.stop.wait(due.wait()):
                with lock:
                    run_id, body = next(runs)
                if self._ask("/api/v1/runs/", self.uploads, gzip.compress(body), headers):
                    self.uploaded.append(run_id)

        return [_thread(upload) for _ in range(count)]

    def readers(self, paths: Iterator[str], count: int, pause: float) -> list[threading.Thread]:
        """So many people who look at these pages, each with a pause between two."""
        lock = threading.Lock()

        def look() -> None:
            while not self.stop.wait(pause):
                with lock:
                    path = next(paths)
                host = HOST.search(self._ask(path, self.pages))
                if host:
                    self._ask(host[1].decode(), self.pages)

        return [_thread(look) for _ in range(count)]

    def _ask(
        self,
        path: str,
        answers: Answers,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> bytes:
        """The answer's body, or nothing where it is no good one."""
        request = urllib.request.Request(self.url + path, body, headers or {})
        begun = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                found: bytes = answer.read()
        except (urllib.error.URLError, OSError) as error:
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
