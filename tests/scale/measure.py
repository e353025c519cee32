"""What one engine takes for one fleet: its start, its memory, each question."""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from results.analytics.engine import questions
from store.outage import AnalyticsUnavailable
from tests.scale.engines import ENGINES
from tests.scale.questions import QUESTIONS

MOST_CALLS = 5
MOST_SECONDS = 10.0
"""A question is not asked again after so long."""

Figures = dict[str, Any]


def figures(name: str, snapshot: Path, memory_gb: int) -> Figures:
    """Of this process, which has done nothing before: memory is all that it has."""
    begun = time.perf_counter()
    copied = ENGINES[name](snapshot, memory_gb)
    started = time.perf_counter() - begun
    with questions() as ask:
        ((hosts,),) = ask("SELECT count(DISTINCT host) FROM run", {})
        ((results,),) = ask("SELECT count(*) FROM result", {})
    return {
        "engine": name,
        "hosts": hosts,
        "results": results,
        "start_seconds": started,
        "copy_bytes": copied,
        "resident_bytes": _status_bytes("VmRSS"),
        "questions": {question: _timed(ask) for question, ask in QUESTIONS.items()},
        "disk_bytes": _disk_bytes(snapshot),
        "peak_bytes": _status_bytes("VmHWM"),
    }


def _timed(ask: Callable[[], object]) -> Figures:
    """Seconds of the first answer; the median of all, and of their CPU time."""
    spent, cpu = list[float](), list[float]()
    while len(spent) < MOST_CALLS and sum(spent) < MOST_SECONDS:
        begun, cpu_begun = time.perf_counter(), time.process_time()
        try:
            ask()
        except AnalyticsUnavailable as error:
            return {"fails": str(error), "first": time.perf_counter() - begun}
        spent.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - cpu_begun)
    return {"first": spent[0], "median": median(spent), "cpu": median(cpu), "calls": len(spent)}


def _disk_bytes(snapshot: Path) -> int:
    """What the engine has beside the snapshot: its own tables, or what memory does not hold."""
    files = (file for file in snapshot.parent.rglob("*") if snapshot not in file.parents)
    return sum(file.stat().st_size for file in files if file.is_file())


def _status_bytes(name: str) -> int:
    """Of this process alone: the peak that `getrusage` knows may be that of its parent."""
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024
