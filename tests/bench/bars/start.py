"""11: `make run` in a fresh copy of the project, with a warm package cache, and once more."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from launch import paths, processes
from tests.bench.figures import Figure, below, missing
from tests.bench.fleet.size import Size
from tests.bench.serving import free_port
from tests.bench.telling import say

FIRST_SECONDS, SECOND_SECONDS = 120.0, 8.0
PATIENCE_SECONDS = 300.0
READY = "Ciphermark runs at"
NOT_COPIED = (".git", ".venv", ".data", "node_modules", "dist", "__pycache__", ".*_cache")
OWN_VARIABLES = ("CIPHERMARK_", "DATABASE_URL", "REDIS_URL", "DJANGO_", "BENCH_", "PYTHONPATH")


def figures(_size: Size) -> list[Figure]:
    """Seconds from the command to the line with the site's address; the agent measures nothing."""
    with tempfile.TemporaryDirectory(prefix="ciphermark-bench-") as folder:
        copy = Path(folder) / "ciphermark"
        shutil.copytree(paths.PROJECT, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
        try:
            first, second = (_seconds_to_start(copy) for _ in range(2))
        except _NotStarted as failure:
            return [missing("11 make run", f"< {FIRST_SECONDS:g} s", str(failure))]
    return [
        below("11 make run, first start", "s", first, FIRST_SECONDS),
        below("11 make run, second start", "s", second, SECOND_SECONDS),
    ]


class _NotStarted(Exception):
    """The site did not come up; the message says how it ended."""


def _seconds_to_start(copy: Path) -> float:
    log = copy.parent / "make-run.log"
    begun = time.monotonic()
    with _make_run(copy, log) as process:
        while READY not in log.read_text(errors="replace"):
            if process.poll() is not None or time.monotonic() - begun > PATIENCE_SECONDS:
                say(processes.last_lines(log))
                raise _NotStarted("it did not start; its last lines are above")
            time.sleep(0.05)
        return time.monotonic() - begun


@contextmanager
def _make_run(copy: Path, log: Path) -> "Iterator[subprocess.Popen[bytes]]":
    kept = {name: text for name, text in os.environ.items() if not name.startswith(OWN_VARIABLES)}
    environment = {**kept, "MEASURE": "0", "PORT": str(free_port())}
    with log.open("wb") as stream:
        process = subprocess.Popen(
            ["make", "run"],
            cwd=copy,
            env=environment,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
