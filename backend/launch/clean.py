"""`make clean`: what can be built again goes; the data stays unless asked for."""

import os
import shutil
from pathlib import Path

from launch import places, preconditions, processes
from launch.telling import say

BUILT = (
    places.PROJECT / ".venv",
    places.FRONTEND / "node_modules",
    places.FRONTEND / "dist",
    places.TOOLS,
    places.PROJECT / ".data" / "test",
    places.PROJECT / ".mypy_cache",
    places.PROJECT / ".pytest_cache",
    places.PROJECT / ".ruff_cache",
)


def clean() -> int:
    """Remove everything built, and with DATA=1 the data folder too, naming each."""
    folder = places.data_dir()
    compat = sorted(places.PROJECT.glob(".data/compat-*"))
    tests = (("test", places.PROJECT / ".data" / "test"), *(("compat", one) for one in compat))
    for target, place in (("run", folder), *tests):
        if place.is_dir():
            preconditions.FolderLock.take(place, target)
        _stop_servers(place)
    with_data = os.environ.get("DATA") == "1"
    for path in (*BUILT, *compat, *([folder] if with_data else [])):
        _remove(path)
    if not with_data and folder.exists():
        say(f"Kept {places.shown(folder)} with its runs; `make clean DATA=1` removes it too.")
    return 0


def _stop_servers(data_dir: Path) -> None:
    """What a killed start left running must not outlive its files."""
    if places.venv_python().exists():
        command: list[str | Path] = [places.venv_python(), "-m", "config.embedded", data_dir]
        log = data_dir / "log" / "clean.log"
        status = processes.run("config.embedded", command, log=log, folder=places.BACKEND)
        processes.require("Stopping the embedded servers", status, log)


def _remove(path: Path) -> None:
    if path.exists():
        shutil.rmtree(path)
        say(f"Removed {places.shown(path)}")
