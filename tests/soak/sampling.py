"""What is looked at during a soak: memory of each process, and how long runs wait."""

import threading
import time
from dataclasses import dataclass, field

import psutil

from tests.chaos.site import Site

EVERY_SECONDS = 2.0
MIB = 1024 * 1024

QUEUE = """
SELECT coalesce(extract(epoch FROM now() - min(received_at)), 0)::float8
FROM runs_run WHERE status = 'accepted'
"""


@dataclass(frozen=True)
class Sample:
    """One look: MiB of memory by process, and the oldest waiting run's age in seconds."""

    moment: float
    memory: dict[str, float]
    queue_age: float


@dataclass
class Sampling:
    """Samples of a site until told to stop."""

    site: Site
    stop: threading.Event
    samples: list[Sample] = field(default_factory=list)

    def run(self) -> None:
        """Look again and again."""
        with self.site.database(autocommit=True) as connection:
            while not self.stop.wait(EVERY_SECONDS):
                row = connection.execute(QUEUE).fetchone()
                age = row[0] if row else 0.0
                self.samples.append(Sample(time.monotonic(), self._memory(), age))

    def _memory(self) -> dict[str, float]:
        """Each web process; of the others the largest.

        The first process of the web server answers nothing. Shared memory that PostgreSQL has
        touched counts.
        """
        found = {
            name: [_mib(one) for one in part.processes()] for name, part in self.site.parts.items()
        }
        web = {f"web {place}": size for place, size in enumerate(found.pop("web")[1:], 1)}
        return {**web, **{name: max(sizes, default=0.0) for name, sizes in found.items()}}


def _mib(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / MIB
    except psutil.Error:
        return 0.0
