"""`make load`: RATE=50 uploads a second for DURATION=300 seconds beside browsing.

Uploads are sent when they are due, whether or not those before have been answered: a site that
cannot keep up does not slow its clients down. Pages are asked for at the same pace, first on the
idle site, then beside the uploads.
"""

import http.client
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from launch.console import say
from tests.chaos.__main__ import number, remove_leftovers
from tests.chaos.documents import documents
from tests.chaos.parts import wait_until
from tests.chaos.rehearsal import waiting_runs
from tests.chaos.site import Site, running_site

PAGES = ("/", "/hosts/", "/runs/", "/recommend/", "/method/", "/api/v1/comparison/?group_by=cpu")
BROWSE_EVERY = 0.25
"""Seconds between two pages: four readers who look at each for a second."""

IDLE_SECONDS = 30.0
WARM_UP_RUNS = 300
SENDERS = 32
ANSWER_SECONDS = 30.0
SLOWER = 2.0
"""Times that pages may be slower beside uploads than on the idle site (95th percentile)."""


@dataclass
class Timed:
    """Requests of one kind: seconds of each that was answered as it should be, and the others."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def percentile(self, share: int) -> float:
        """Seconds; 0 where nothing was asked."""
        if len(self.seconds) < 2:
            return sum(self.seconds)
        return statistics.quantiles(self.seconds, n=100, method="inclusive")[share - 1]


def request(
    port: int, method: str, path: str, expected: Sequence[int], timed: Timed, **more: Any
) -> None:
    """One request over a connection of its own, timed from the connection to the last byte."""
    begun = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request(method, path, **more)
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException) as error:
        timed.errors.append(f"{path}: {error}")
        return
    finally:
        connection.close()
    if answer.status in expected:
        timed.seconds.append(time.monotonic() - begun)
    else:
        timed.errors.append(f"{path}: {answer.status}")


def paced(count: int, every: float, send: Callable[[int], None], senders: int) -> None:
    """Call `send` with 0, 1, 2 ... when each is due, however long the ones before take."""
    begun = time.monotonic()
    with ThreadPoolExecutor(senders) as pool:
        for position in range(count):
            time.sleep(max(0.0, begun + position * every - time.monotonic()))
            pool.submit(send, position)


def browse(port: int, seconds: float) -> Timed:
    """Pages in turn."""
    timed = Timed()

    def send(position: int) -> None:
        request(port, "GET", PAGES[position % len(PAGES)], (200,), timed)

    paced(int(seconds / BROWSE_EVERY), BROWSE_EVERY, send, senders=8)
    return timed


def upload(site: Site, token: str, bodies: Sequence[bytes], rate: int) -> Timed:
    """Every body at its time."""
    timed = Timed()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}

    def send(position: int) -> None:
        more = {"body": bodies[position], "headers": headers}
        request(site.port, "POST", "/api/v1/runs/", (200, 202), timed, **more)

    paced(len(bodies), 1 / rate, send, SENDERS)
    return timed


def line(name: str, timed: Timed) -> str:
    """A row of the table."""
    figures = "".join(f"{1000 * timed.percentile(share):>9.0f}" for share in (50, 95, 99))
    return f"{name:<24}{len(timed.seconds):>9}{len(timed.errors):>8}{figures}"


def main() -> int:
    """Print the table; 0 when there was no error and pages stayed quick enough."""
    folder = Path(os.environ["CIPHERMARK_DATA_DIR"]) / "site"
    remove_leftovers(folder)
    rate, duration = number("RATE", 50), number("DURATION", 300)
    everything = documents(WARM_UP_RUNS + rate * duration, number("SEED", 1))
    bodies = [json.dumps(document).encode() for document in everything]
    with running_site(folder, with_pages=True) as site:
        site.manage("load_published")
        token = site.manage("create_token", "load", "--scope", "upload").strip()
        upload(site, token, bodies[:WARM_UP_RUNS], rate)
        wait_until(lambda: waiting_runs(site) == 0, 120, "the first runs are not processed")
        browse(site.port, IDLE_SECONDS / 3)  # so that nothing is asked for the first time
        idle = browse(site.port, IDLE_SECONDS)
        busy: list[Timed] = []
        reader = threading.Thread(target=lambda: busy.append(browse(site.port, duration)))
        reader.start()
        uploads = upload(site, token, bodies[WARM_UP_RUNS:], rate)
        reader.join()
        begun, behind = time.monotonic(), waiting_runs(site)
        wait_until(lambda: waiting_runs(site) == 0, 600, "runs are still accepted")
        settled = time.monotonic() - begun
    return tell(
        idle, busy[0], uploads, f"{behind} runs were waiting at the end, for {settled:.1f} s"
    )


def tell(idle: Timed, busy: Timed, uploads: Timed, behind: str) -> int:
    """The table and what it means."""
    say(f"{'':<24}{'answers':>9}{'errors':>8}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}")
    rows = {"pages, idle site": idle, "pages beside uploads": busy, "uploads": uploads}
    for name, timed in rows.items():
        say(line(name, timed))
    errors = [error for timed in rows.values() for error in timed.errors]
    slower = busy.percentile(95) / idle.percentile(95)
    say(f"\npages: p95 {slower:.2f} x idle (at most {SLOWER:.0f}); {behind}")
    for error in errors[:20]:
        sys.stderr.write(f"{error}\n")
    return 1 if errors or slower >= SLOWER else 0


if __name__ == "__main__":
    sys.exit(main())
