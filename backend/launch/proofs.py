"""`make chaos`, `make load`, `make fuzz`, `make audit`: what the promises are proved by, at length.

`make test` has a short form of each but the load.
"""

import os
import signal
from pathlib import Path

from launch import leftovers, places, preconditions, processes
from launch.checks import clean_environment

MODULES = {
    "chaos": "tests.chaos",
    "load": "tests.chaos.load",
    "fuzz": "tests.fuzz",
    "audit": "tests.audit",
}

PATHS = (places.BACKEND, places.PROJECT / "agent", places.PROJECT)


def run_proof(name: str) -> int:
    """Run it in a data folder of its own; its exit code."""
    lock = preconditions.FolderLock.take(places.data_dir(), name)
    lock.describe(f"process {os.getpid()}")
    environment = {
        **clean_environment(),
        "PYTHONPATH": os.pathsep.join(str(path) for path in PATHS),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    command: list[str | Path] = [places.venv_python(), "-m", MODULES[name]]
    try:
        return processes.run(name, command, environment=environment, asked_by=signal.SIGINT)
    finally:
        leftovers.end_marked_processes(places.data_dir())
