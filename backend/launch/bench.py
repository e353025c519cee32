"""`make bench` and `make lighthouse`: the speed of this copy (docs/performance.md)."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from config.embedded import stop_unused
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

LIGHTHOUSE = "lighthouse@12.8.2"
LIGHTHOUSE_FOLDER = paths.TOOLS / "lighthouse"


def run_bench() -> int:
    """Measure in a data folder of its own, whose data set the next call finds again."""
    return _measure("bench", "tests.bench", {})


def run_lighthouse() -> int:
    """Lighthouse's scores of the pages that `make bench`'s data set fills."""
    program, runtime = find_lighthouse(), node.provide()
    frontend.build(runtime)
    variables = {
        "LIGHTHOUSE": str(program),
        "CHROME_PATH": str(system_programs.provide_chromium()),
        "PATH": runtime.environment()["PATH"],
    }
    return _measure("lighthouse", "tests.bench.lighthouse", variables)


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


def _measure(name: str, module: str, variables: Mapping[str, str]) -> int:
    lock = preconditions.FolderLock.take(paths.data_dir(), name)
    lock.describe(f"process {os.getpid()}")
    results = paths.PROJECT / ".data" / f"{name}.json"
    command: list[str | Path] = [paths.venv_python(), "-m", module, "--json", results]
    python_path = os.pathsep.join((str(paths.BACKEND), str(paths.PROJECT)))
    try:
        environment = {**clean_environment(), **variables, "PYTHONPATH": python_path}
        return processes.run(name, command, environment=environment)
    finally:
        orphan_processes.end_marked_processes(paths.data_dir())
        stop_unused(paths.data_dir())
