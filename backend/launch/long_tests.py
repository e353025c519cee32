"""What the promises are proved by, at length: `make chaos`, `load`, `soak`, `fuzz`, `audit`.

`make test` has a short form of each but load and soak.
"""

import os
import signal
from pathlib import Path

from config.embedded import stop_services
from launch import frontend, node, orphan_processes, paths, preconditions, processes
from launch.checks import clean_environment

MODULES = {
    "chaos": "tests.chaos",
    "load": "tests.chaos.load",
    "soak": "tests.soak",
    "fuzz": "tests.fuzz",
    "audit": "tests.audit",
}

BROWSED = ("load", "soak", "fuzz")
"""What asks for pages: without the built frontend each answers 500."""

PATHS = (paths.BACKEND, paths.PROJECT / "agent", paths.PROJECT)


def run_proof(name: str) -> int:
    """Run it in a data folder of its own; its exit code."""
    lock = preconditions.FolderLock.take(paths.data_dir(), name)
    lock.describe(f"process {os.getpid()}")
    environment = {
        **clean_environment(),
        "PYTHONPATH": os.pathsep.join(str(path) for path in PATHS),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    if name in BROWSED:
        frontend.build(node.provide())
    command: list[str | Path] = [paths.venv_python(), "-m", MODULES[name]]
    try:
        return processes.run(name, command, environment=environment, asked_by=signal.SIGINT)
    finally:
        orphan_processes.end_marked_processes(paths.data_dir())
        stop_services(paths.data_dir() / "site")
