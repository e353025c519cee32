"""`make fuzz`: CASES=20000 requests to the API (half as many as roles that change nothing),
DOCUMENTS=50000 mutated documents, SEED=1.

Beside them, random texts are read for FUZZ_SECONDS=600; new ones each time,
unless SEED says which. The parts run at the same time, each in processes of its own.
"""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from launch import processes
from launch.console import say
from tests.chaos.__main__ import number, remove_leftovers
from tests.chaos.site import MIGRATED, Site, running_site
from tests.fuzz.described import API, Outcome, ask, cases_of, describe, roles

ONE_BY_ONE = (("editor", "administrator"), ("upload token", "anonymous"), ("read token", "viewer"))
"""Roles in turn: never two at a time that can remove what the other has just made."""


class Stopped(Exception):
    """The other parts were interrupted."""


def documents(site: Site, count: int, seed: int, watch: Callable[[], None]) -> int:
    """The mutated documents, in a process and a database of their own; its exit code."""
    say(f"documents: {count:,} mutated ones, SEED={seed}")
    servers = {
        "DATABASE_URL": site.new_database("mutated", template=MIGRATED),
        # Its token must not be taken for one of the site's: uploads of each are counted.
        "REDIS_URL": site.environment["REDIS_URL"].replace("db=0", "db=1"),
    }
    environment = {**site.environment, **servers}
    command = [sys.executable, "-m", "tests.fuzz.documents", str(count), str(seed)]
    return processes.run("documents", command, environment=environment, watch=watch)


def texts(watch: Callable[[], None]) -> int:
    """Read random texts in a process of their own; return its exit code."""
    seconds, seed = os.environ.get("FUZZ_SECONDS") or "600", os.environ.get("SEED")
    command = [sys.executable, "-m", "tests.fuzz.texts", seconds, *([seed] if seed else [])]
    return processes.run("texts", command, watch=watch)


def table(outcomes: list[Outcome]) -> str:
    """The roles in columns."""
    lines = [f"{'as':<16} {'cases':>7} {'failures':>9}"]
    lines += [f"{one.role:<16} {one.cases:>7} {one.failures:>9}" for one in outcomes]
    return "\n".join(lines)


def all_parts(site: Site) -> tuple[bool, list[Outcome]]:
    """Run every part; whether texts and documents found nothing, and what came of each role."""
    seed, stop = number("SEED", 1), threading.Event()

    def watch() -> None:
        if stop.is_set():
            raise Stopped

    api, wanted = API(site, describe(site), seed, watch), number("CASES", 20_000)
    headers = roles(site)

    def in_turn(names: tuple[str, ...]) -> list[Outcome]:
        return [ask(api, role, headers[role], cases_of(role, wanted)) for role in names]

    count = number("DOCUMENTS", 50_000)
    with ThreadPoolExecutor(max_workers=2 + len(ONE_BY_ONE)) as pool:
        others = [pool.submit(texts, watch), pool.submit(documents, site, count, seed, watch)]
        asked = [pool.submit(in_turn, names) for names in ONE_BY_ONE]
        everything: list[Future[Any]] = [*others, *asked]
        try:
            for done in wait(everything, return_when=FIRST_EXCEPTION).done:
                done.result()
        finally:
            stop.set()
    outcomes = [outcome for one in asked for outcome in one.result()]
    return not any(one.result() for one in others), outcomes


def main() -> int:
    """Everything; 0 when nothing was found."""
    folder = Path(os.environ["CIPHERMARK_DATA_DIR"]) / "site"
    remove_leftovers(folder)
    say("starting a site; then everything at once, about 25 minutes on 2 cores ...")
    with running_site(folder, with_pages=True, public=False) as site:
        site.manage("load_published")
        is_clean, outcomes = all_parts(site)
    say(f"\n{table(outcomes)}")
    for one in outcomes:
        if one.failures:
            say(f"what failed as {one.role}: {one.log}")
    return 0 if is_clean and not any(one.failures for one in outcomes) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
