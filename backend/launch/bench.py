"""`make bench`: the speed of this copy beside floors of this machine (docs/performance.md)."""

import os
from pathlib import Path

from config.embedded import stop_unused
from launch import leftovers, places, preconditions, processes
from launch.checks import clean_environment

RESULTS = places.PROJECT / ".data" / "bench.json"


def run_bench() -> int:
    """Measure in a data folder of its own, whose data set the next call finds again."""
    lock = preconditions.FolderLock.take(places.data_dir(), "bench")
    lock.describe(f"process {os.getpid()}")
    command: list[str | Path] = [places.venv_python(), "-m", "tests.bench"]
    command += ["--json", RESULTS]
    python_path = os.pathsep.join((str(places.BACKEND), str(places.PROJECT)))
    try:
        environment = {**clean_environment(), "PYTHONPATH": python_path}
        return processes.run("bench", command, environment=environment)
    finally:
        leftovers.end_marked_processes(places.data_dir())
        stop_unused(places.data_dir())
