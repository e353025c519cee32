"""`make soak`: DURATION=3600 seconds of use, RATE=5 uploads a second.

Beside the uploads runs are hidden and removed, pages are read, /metrics is scraped, hosts become
slower, which is sent to a web hook, and in the middle the site is updated. As many runs are removed
as come in, so that the data stay as large: what grows then leaks.
"""

import itertools
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from launch.console import say
from tests.chaos.__main__ import number, remove_leftovers
from tests.chaos.editor import Editor
from tests.chaos.parts import wait_until
from tests.chaos.rehearsal import waiting_runs
from tests.chaos.site import READY_SECONDS, Site, running_site
from tests.notifications.receivers import Receiver, receiver
from tests.soak.acting import Acting, runs_of, slower_hosts
from tests.soak.sampling import Sampling
from tests.soak.told import Span, faults, memory, table

KEPT = 300
"""Runs; what was uploaded before them is removed."""

PAGES = (
    "/",
    "/?group_by=openssl_series&tool=openssl",
    "/hosts/",
    "/runs/",
    "/changes/",
    "/api/v1/comparison/?group_by=cpu&metric=normalised",
    "/api/v1/comparison/?group_by=os&os=debian-gnu-linux",
    "/api/v1/comparison/?group_by=host&tool=openssl",
    "/recommend/",
    "/method/",
)
AGENTS, READERS, PAUSE_SECONDS = 4, 2, 0.5
SCRAPED_EVERY_SECONDS = 15.0
SLOWER_EVERY_SECONDS = 60.0
TOLD_WITHIN_SECONDS = 180.0

MAKE_CHANNEL = """
from access.audit import COMMAND
from notifications.channels import Rule, make_channel
make_channel("soak", "webhook", "{url}", Rule(), by=COMMAND)
"""


@dataclass
class Soak:
    """A site under use; `removed` of the runs that were uploaded are gone, the oldest first."""

    site: Site
    acting: Acting
    hook: Receiver
    removed: int = 0
    slower: list[str] = field(default_factory=list)
    """Hosts that became slower: each is told once."""

    def edit(self) -> None:
        """Hide one run of ten and show it again; remove what is too many."""
        editor = Editor(self.site, self.site.port)
        for position in itertools.count():
            while len(self.acting.uploaded) <= position + KEPT and not self.acting.stop.is_set():
                time.sleep(PAUSE_SECONDS)
            if self.acting.stop.is_set():
                return
            path = f"runs/{self.acting.uploaded[position]}/"
            if position % 10 == 0:
                for hidden in (True, False):
                    editor.change("PATCH", path, {"hidden": hidden})
            editor.change("DELETE", path, {})
            self.removed = position + 1

    def slow_down(self, token: str) -> None:
        """Have one host after another become slower."""
        for host, bodies in slower_hosts():
            if self.acting.stop.wait(SLOWER_EVERY_SECONDS):
                return
            if all(self.acting.upload(body, token) for body in bodies):
                self.slower.append(host)

    def update(self) -> None:
        """What docs/upgrading.md says: migrations, then each part anew."""
        self.site.manage("migrate", "--no-input")
        begin = time.monotonic()
        with self.acting.away():
            for name in ("web", "worker", "beat"):
                self.site.parts[name].stop()
                self.site.parts[name].start()
            wait_until(self.site.is_ready, READY_SECONDS, "the updated site is not ready")
        say(
            f"updated in the middle: ready after {time.monotonic() - begin:.1f} s, in which"
            f" {self.acting.refused} requests were answered by nobody"
        )

    def missing(self) -> list[str]:
        """What was acknowledged and is not there, ready, or was told to nobody."""
        late = []
        try:
            wait_until(lambda: waiting_runs(self.site) == 0, READY_SECONDS, "runs still wait")
        except AssertionError as fault:
            late = [str(fault)]
        with self.site.database() as connection:
            rows = connection.execute(
                "SELECT run_id::text FROM runs_run WHERE status IN ('accepted', 'ready')"
            )
            there = {run_id for (run_id,) in rows}
        # The edit that was under way at the end may have been done.
        lost = set(self.acting.uploaded[self.removed + 1 :]) - there
        return [
            *late,
            *(f"run {one} is lost" for one in sorted(lost)),
            *(f"nobody was told that {one} became slower" for one in self._untold()),
        ]

    def _untold(self) -> list[str]:
        def untold() -> list[str]:
            entries = [entry for one in self.hook.received for entry in one.json()["entries"]]
            told = {host for entry in entries for host in entry["hosts"]}
            return [host for host in self.slower if host not in told]

        deadline = time.monotonic() + TOLD_WITHIN_SECONDS
        while untold() and time.monotonic() < deadline:
            time.sleep(1)
        return untold()


def main() -> int:
    """Soak a site in the production shape; 1 when its memory grew, or something failed."""
    folder = Path(os.environ["CIPHERMARK_DATA_DIR"]) / "site"
    remove_leftovers(folder)
    seconds, rate = number("DURATION", 3600), number("RATE", 5)
    scrape = secrets.token_urlsafe(24)
    settings = {"CIPHERMARK_METRICS_TOKEN": scrape, "CIPHERMARK_NOTIFY_NETWORKS": "127.0.0.1"}
    with (
        receiver() as hook,
        running_site(folder, with_pages=True, settings=settings) as site,
    ):
        site.manage("load_published")
        site.manage("shell", "--no-imports", "-c", MAKE_CHANNEL.format(url=hook.url))
        acting = Acting(site.url)
        soak = Soak(site, acting, hook)
        token = site.manage("create_token", "soak", "--scope", "upload").strip()
        sampling = Sampling(site, acting.stop)
        metrics = {"Authorization": f"Bearer {scrape}"}
        threads = [
            *acting.agents(token, runs_of("soak"), rate, AGENTS),
            *acting.readers(itertools.cycle(PAGES), READERS, PAUSE_SECONDS),
            *acting.readers(itertools.repeat("/metrics"), 1, SCRAPED_EVERY_SECONDS, metrics),
            *map(_thread, (soak.edit, lambda: soak.slow_down(token), sampling.run)),
        ]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        spans = _halves(begin, seconds, soak.update)
        acting.stop.set()
        for thread in threads:
            thread.join()
        missing = soak.missing()
    for span in spans:
        say(f"{table(span, acting, sampling.samples)}\n\n{memory(span, sampling.samples)}\n")
    say(f"{len(acting.uploaded)} runs uploaded, {len(soak.slower)} hosts became slower")
    wrong = [*missing, *faults(spans, acting, sampling.samples, rate)]
    for fault in wrong or ["passed: memory flat, nothing lost, every answer good"]:
        say(fault)
    return 1 if wrong else 0


def _thread(act: Callable[[], None]) -> threading.Thread:
    return threading.Thread(target=act, daemon=True)


def _halves(begin: float, seconds: float, update: Callable[[], None]) -> list[Span]:
    """Before the update and after it, or until Ctrl-C: what was seen until then is told."""
    spans = []
    try:
        time.sleep(seconds / 2)
        spans.append(Span(begin, time.monotonic()))
        update()
        begin = time.monotonic()
        time.sleep(seconds / 2)
        spans.append(Span(begin, time.monotonic()))
    except KeyboardInterrupt:
        spans.append(Span(begin, time.monotonic()))
    return spans


if __name__ == "__main__":
    sys.exit(main())
