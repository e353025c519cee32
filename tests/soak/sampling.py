"""What is looked at during a soak: memory of each process, and how long runs wait."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil
import psycopg

from config.embedded.postgres import Postgres
from config.embedded.redis_server import RedisServer

EVERY_SECONDS = 2.0
MIB = 1024 * 1024

QUEUE = """
SELECT coalesce(extract(epoch FROM now() - min(received_at)), 0)::float8, count(*)
FROM runs_run WHERE status = 'accepted'
"""

PARTS = ("web", "worker", "postgres", "redis")


@dataclass(frozen=True)
class Sample:
    """One look: MiB of memory by part, the oldest waiting run's age in seconds, how many wait."""

    moment: float
    memory: dict[str, float]
    queue_age: float
    queue: int


@dataclass
class Sampling:
    """Samples of a site whose processes are descendants of this one, until told to stop."""

    database_url: str
    servers: tuple[Postgres, RedisServer]
    stop: threading.Event
    samples: list[Sample] = field(default_factory=list)

    def run(self) -> None:
        """Look again and again."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            while not self.stop.wait(EVERY_SECONDS):
                row = connection.execute(QUEUE).fetchone()
                age, queue = row if row else (0.0, 0)
                self.samples.append(Sample(time.monotonic(), self._memory(), age, queue))

    def _memory(self) -> dict[str, float]:
        """The largest process of each part. Shared memory that PostgreSQL has touched counts."""
        postgres, redis = (server.process() for server in self.servers)
        parts: dict[str, list[psutil.Process]] = {
            "web": _own(lambda line: "gunicorn" in line),
            "worker": _own(lambda line: "celery" in line),
            "postgres": [] if postgres is None else [postgres, *postgres.children()],
            "redis": [] if redis is None else [redis],
        }
        return {name: max(map(_mib, found), default=0.0) for name, found in parts.items()}


def _own(is_wanted: Callable[[str], bool]) -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if is_wanted(" ".join(process.cmdline())):
                found.append(process)
        except psutil.Error:
            continue  # it has just ended
    return found


def _mib(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / MIB
    except psutil.Error:
        return 0.0
