"""`make clean`: what can be built again goes; the data stays unless asked for."""

import os
import shutil
from pathlib import Path

from launch import paths, preconditions, processes
from launch.console import say

BUILT = (
    paths.PROJECT / ".venv",
    paths.FRONTEND / "node_modules",
    paths.FRONTEND / "dist",
    paths.TOOLS,
    paths.PROJECT / ".data" / "test",
    paths.PROJECT / ".mypy_cache",
    paths.PROJECT / ".pytest_cache",
    paths.PROJECT / ".ruff_cache",
)


def clean() -> int:
    """Remove everything built, and with DATA=1 the data folder too, naming each."""
    folder = paths.data_dir()
    compat = sorted(paths.PROJECT.glob(".data/compat-*"))
    tests = (("test", paths.PROJECT / ".data" / "test"), *(("compat", one) for one in compat))
    for target, place in (("run", folder), *tests):
        if place.is_dir():
            preconditions.FolderLock.take(place, target)
        _stop_servers(place)
    with_data = os.environ.get("DATA") == "1"
    for path in (*BUILT, *compat, *([folder] if with_data else [])):
        _remove(path)
    if not with_data and folder.exists():
        say(f"Kept {paths.shown(folder)} with its runs; `make clean DATA=1` removes it too.")
    return 0


def _stop_servers(data_dir: Path) -> None:
    """What a killed start left running must not outlive its files."""
    if paths.venv_python().exists():
        command: list[str | Path] = [paths.venv_python(), "-m", "config.embedded", data_dir]
        log = data_dir / "log" / "clean.log"
        status = processes.run("config.embedded", command, log=log, folder=paths.BACKEND)
        processes.require("Stopping the embedded servers", status, log)


def _remove(path: Path) -> None:
    if path.exists():
        shutil.rmtree(path)
        say(f"Removed {paths.shown(path)}")
