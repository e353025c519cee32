"""`make soak`: uploads, removals, hides and questions for DURATION=3600 seconds, RATE=5 a second.

As many runs are removed as come in, so that the data stay as large: what grows then leaks.
"""

import itertools
import os
import sys
import threading
import time
from pathlib import Path

from launch.console import say
from tests.chaos.__main__ import number, remove_leftovers
from tests.chaos.editor import Editor
from tests.chaos.site import Site, running_site
from tests.soak.acting import Acting, runs_of
from tests.soak.sampling import Sampling
from tests.soak.told import Span, faults, memory, table

KEPT = 300
"""Runs; what was uploaded before them is removed."""

PAGES = (
    "/",
    "/?group_by=openssl_series&tool=openssl",
    "/hosts/",
    "/runs/",
    "/api/v1/comparison/?group_by=cpu&metric=normalised",
    "/api/v1/comparison/?group_by=os&os=debian-gnu-linux",
    "/api/v1/comparison/?group_by=host&tool=openssl",
    "/recommend/",
    "/method/",
)
AGENTS, READERS, PAUSE_SECONDS = 4, 2, 0.5


def main() -> int:
    """Soak a site in the production shape; 1 when its memory grew or an answer failed."""
    folder = Path(os.environ["CIPHERMARK_DATA_DIR"]) / "site"
    remove_leftovers(folder)
    seconds, rate = number("DURATION", 3600), number("RATE", 5)
    with running_site(folder, with_pages=True) as site:
        site.manage("load_published")
        acting = Acting(site.url)
        token = site.manage("create_token", "soak", "--scope", "upload").strip()
        sampling = Sampling(site, acting.stop)
        threads = [
            *acting.agents(token, runs_of("soak"), rate, AGENTS),
            *acting.readers(itertools.cycle(PAGES), READERS, PAUSE_SECONDS),
            threading.Thread(target=_edit, args=(site, acting), daemon=True),
            threading.Thread(target=sampling.run, daemon=True),
        ]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        _wait(seconds)
        span = Span(begin, time.monotonic())
        acting.stop.set()
        for thread in threads:
            thread.join()
    say(table(span, acting, sampling.samples))
    say(f"\n{memory(span, sampling.samples)}\n")
    wrong = faults(span, acting, sampling.samples, rate)
    for fault in wrong or ["passed: memory flat, no run waited for 5 s, every answer good"]:
        say(fault)
    return 1 if wrong else 0


def _edit(site: Site, acting: Acting) -> None:
    """Hide one run of ten and show it again; remove what is too many."""
    editor = Editor(site, site.port)
    for position in itertools.count():
        while len(acting.uploaded) <= position + KEPT and not acting.stop.is_set():
            time.sleep(PAUSE_SECONDS)
        if acting.stop.is_set():
            return
        path = f"runs/{acting.uploaded[position]}/"
        if position % 10 == 0:
            for hidden in (True, False):
                editor.change("PATCH", path, {"hidden": hidden})
        editor.change("DELETE", path, {})


def _wait(seconds: float) -> None:
    """Until the time is over, or Ctrl-C: what was seen until then is told all the same."""
    try:
        time.sleep(seconds)
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    sys.exit(main())
