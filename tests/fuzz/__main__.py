"""`make fuzz`: CASES=20000 requests a role, DOCUMENTS=50000 mutated documents, SEED=1.

Beside them, random texts go through the parsers for FUZZ_SECONDS=600; new ones each time,
unless SEED says which.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from launch.telling import say
from tests.chaos.__main__ import number, remove_leftovers
from tests.chaos.site import Site, running_site
from tests.fuzz.described import Asking, Outcome, ask, describe, roles


def documents(site: Site, count: int, seed: int) -> int:
    """The mutated documents, in a process and a database of their own; its exit code."""
    environment = {**site.environment, "DATABASE_URL": site.new_database("mutated")}
    command = [sys.executable, "-m", "tests.fuzz.documents", str(count), str(seed)]
    return subprocess.run(command, env=environment, check=False).returncode


def start_texts() -> "subprocess.Popen[bytes]":
    """Random texts through the parsers, in a process of their own."""
    seconds, seed = os.environ.get("FUZZ_SECONDS") or "600", os.environ.get("SEED")
    command = [sys.executable, "-m", "tests.fuzz.texts", seconds, *([seed] if seed else [])]
    return subprocess.Popen(command)


def as_every_role(site: Site, cases: int, seed: int) -> list[Outcome]:
    """Two roles at a time, of which one can change nothing that the other looks at."""
    asking = Asking(site, describe(site), cases, seed)
    found = list(roles(site).items())
    half = len(found) // 2
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        for one, other in zip(found[:half], reversed(found[half:]), strict=True):
            for outcome in pool.map(lambda role: ask(asking, *role), (one, other)):
                outcomes.append(outcome)
                say(f"  {outcome.role}: {outcome.cases} cases, {outcome.failures} failures")
    return outcomes


def table(outcomes: list[Outcome]) -> str:
    """The roles in columns."""
    lines = [f"{'as':<16} {'cases':>7} {'failures':>9}"]
    lines += [f"{one.role:<16} {one.cases:>7} {one.failures:>9}" for one in outcomes]
    return "\n".join(lines)


def main() -> int:
    """Everything, one after the other; 0 when nothing was found."""
    folder = Path(os.environ["CIPHERMARK_DATA_DIR"]) / "site"
    remove_leftovers(folder)
    seed = number("SEED", 1)
    texts = start_texts()
    try:
        with running_site(folder, with_pages=True, public=False) as site:
            site.manage("load_published")
            status = documents(site, number("DOCUMENTS", 50_000), seed)
            outcomes = as_every_role(site, number("CASES", 20_000), seed)
        status |= texts.wait()
    finally:
        texts.kill()
    say(f"\n{table(outcomes)}")
    for one in outcomes:
        if one.failures:
            say(f"what failed as {one.role}: {one.log}")
    return 1 if status or any(one.failures for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
