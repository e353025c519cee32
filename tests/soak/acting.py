"""What goes on during a soak: agents that upload, and a person who looks at pages."""

import gzip
import itertools
import json
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
PAUSE_SECONDS = 0.5
"""Between two pages."""

PAGES = (
    "/",
    "/?group_by=openssl_series&tool=openssl",
    "/hosts/",
    "/runs/",
    "/api/v1/comparison/?group_by=cpu&metric=normalised",
    "/api/v1/comparison/?group_by=os&os=debian-gnu-linux",
    "/recommend/",
    "/method/",
)
HOST = re.compile(rb'href="(/hosts/[0-9]+/)"')


@dataclass
class Answers:
    """Seconds that answers took, by their moment (`time.monotonic`), and what went wrong."""

    times: list[tuple[float, float]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def between(self, begin: float, end: float) -> list[float]:
        """Of one part of the soak."""
        return [seconds for moment, seconds in self.times if begin <= moment < end]


@dataclass
class Acting:
    """The threads that act until they are told to stop."""

    url: str
    token: str
    stop: threading.Event = field(default_factory=threading.Event)
    uploads: Answers = field(default_factory=Answers)
    pages: Answers = field(default_factory=Answers)

    def threads(self, rate: float, agents: int) -> list[threading.Thread]:
        """Agents that upload at this rate (runs a second) together, and one who looks."""
        due = _Clock(rate)
        documents = _documents()
        lock = threading.Lock()

        def next_document() -> bytes:
            with lock:
                return next(documents)

        acts: list[Callable[[], None]] = [
            *agents * [lambda: self._upload(due, next_document)],
            self._look,
        ]
        return [threading.Thread(target=act, daemon=True) for act in acts]

    def _upload(self, due: "_Clock", next_document: Callable[[], bytes]) -> None:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
        }
        while not self.stop.wait(due.wait()):
            body = gzip.compress(next_document())
            request = urllib.request.Request(f"{self.url}/api/v1/runs/", body, headers)
            self._ask(request, self.uploads)

    def _look(self) -> None:
        places = itertools.cycle(PAGES)
        while not self.stop.wait(PAUSE_SECONDS):
            page = self._ask(urllib.request.Request(self.url + next(places)), self.pages)
            host = HOST.search(page)
            if host:
                self._ask(urllib.request.Request(self.url + host[1].decode()), self.pages)

    def _ask(self, request: urllib.request.Request, answers: Answers) -> bytes:
        begun = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                body: bytes = answer.read()
        except (urllib.error.URLError, OSError) as error:
            answers.failures.append(f"{request.full_url}: {error}")
            return b""
        answers.times.append((begun, time.monotonic() - begun))
        return body


class _Clock:
    """Hands out moments at a rate, to whoever asks; a late one is due at once."""

    def __init__(self, rate: float) -> None:
        self._step, self._next, self._lock = 1 / rate, time.monotonic(), threading.Lock()

    def wait(self) -> float:
        """Seconds until the next moment."""
        with self._lock:
            self._next += self._step
            return max(0.0, self._next - time.monotonic())


def _documents() -> Iterator[bytes]:
    """Run documents of a small fleet, each measured just now."""
    plan = Plan(SIZES["tiny"])
    for planned in itertools.cycle(plan.runs):
        document = {**without_measurements(plan, planned), "run_id": str(uuid4())}
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        document |= {"started_at": now, "finished_at": now}
        document.pop("times_of", None)
        yield assembled(json.loads(json.dumps(document)), planned.host.kind).body
