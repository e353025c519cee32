"""What takes long: the promises proved at length, and the speed of this copy (docs/performance.md).

`make chaos`, `load`, `soak`, `fuzz`, `audit`, of which `make test` has a short form of all but load
and soak; `make bench`, `make lighthouse`, `make scale`.
"""

import os
import shutil
import signal
from pathlib import Path

from config.embedded import stop_services, stop_unused
from launch import (
    frontend,
    node,
    orphan_processes,
    paths,
    preconditions,
    processes,
    system_programs,
)
from launch.checks import clean_environment
from launch.console import Problem

PROOFS = {
    "chaos": "tests.chaos",
    "load": "tests.chaos.load",
    "soak": "tests.soak",
    "fuzz": "tests.fuzz",
    "audit": "tests.audit",
}
BENCHES = {
    "bench": "tests.bench",
    "lighthouse": "tests.bench.lighthouse",
    "scale": "tests.scale",
}
"""They write a file of results; the first two find the data set of the call before again."""

BROWSED = ("load", "soak", "fuzz", "lighthouse")
"""What asks for pages: without the built frontend each answers 500."""

PATHS = (paths.BACKEND, paths.PROJECT / "agent", paths.PROJECT)

LIGHTHOUSE = "lighthouse@12.8.2"
LIGHTHOUSE_FOLDER = paths.TOOLS / "lighthouse"


def run_long_test(name: str) -> int:
    """Run it in a data folder of its own; its exit code."""
    variables = _for_lighthouse() if name == "lighthouse" else {}
    if name in BROWSED:
        frontend.build(node.provide())
    lock = preconditions.FolderLock.take(paths.data_dir(), name)
    lock.describe(f"process {os.getpid()}")
    environment = {
        **clean_environment(),
        **variables,
        "PYTHONPATH": os.pathsep.join(map(str, PATHS)),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    command: list[str | Path] = [paths.venv_python(), "-m", {**PROOFS, **BENCHES}[name]]
    if name in BENCHES:
        command += ["--json", paths.PROJECT / ".data" / f"{name}.json"]
    asked_by = signal.SIGTERM if name in BENCHES else signal.SIGINT
    try:
        return processes.run(name, command, environment=environment, asked_by=asked_by)
    finally:
        orphan_processes.end_marked_processes(paths.data_dir())
        if name in BENCHES:
            stop_unused(paths.data_dir())
        else:
            stop_services(paths.data_dir() / "site")


def _for_lighthouse() -> dict[str, str]:
    return {
        "LIGHTHOUSE": str(find_lighthouse()),
        "CHROME_PATH": str(system_programs.provide_chromium()),
        "PATH": node.provide().environment()["PATH"],
    }


def find_lighthouse() -> Path:
    """`LIGHTHOUSE`, on PATH or among the tools: it is large, and nothing else needs it."""
    own = LIGHTHOUSE_FOLDER / "node_modules" / ".bin" / "lighthouse"
    named = os.environ.get("LIGHTHOUSE") or "lighthouse"
    found = shutil.which(named) or shutil.which(own)
    if found is None:
        folder = paths.shown(LIGHTHOUSE_FOLDER)
        raise Problem(
            f"Lighthouse is not installed: npm install --prefix {folder} {LIGHTHOUSE}, or set "
            "LIGHTHOUSE to its program."
        )
    return Path(found)
