"""Recognise a server by what it is and where it works, never by a process id alone."""

import contextlib
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import psutil

STOP_SECONDS = 5.0
"""How long a left-over process may take to end before it is killed."""


def serves(process: psutil.Process, names: Collection[str], folder: Path) -> bool:
    """Whether this process is one of these programs, alive, with `folder` as working directory."""
    try:
        return (
            process.name() in names
            and process.status() != psutil.STATUS_ZOMBIE
            and Path(process.cwd()) == folder
        )
    except (psutil.Error, OSError):
        return False


def process_from_file(
    pid_file: Path, names: Collection[str], folder: Path
) -> psutil.Process | None:
    """The process whose id is the file's first line, when it really is that server."""
    try:
        process = psutil.Process(int(pid_file.read_text().split()[0]))
    except (OSError, ValueError, IndexError, psutil.Error):
        return None
    return process if serves(process, names, folder) else None


def ends_within(process: psutil.Process, seconds: float) -> bool:
    """Whether it ends in time. A zombie has ended, whoever is to collect it."""
    deadline = time.monotonic() + seconds
    with contextlib.suppress(psutil.NoSuchProcess):
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
    return True


def processes_in(folder: Path, names: Collection[str]) -> Iterator[psutil.Process]:
    """All live processes of these programs that work in `folder`."""
    return (process for process in psutil.process_iter() if serves(process, names, folder))


def end_leftovers(folder: Path, names: Collection[str]) -> None:
    """End what a killed server left behind in `folder`: its children, or itself without a file."""
    for process in processes_in(folder, names):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
            if not ends_within(process, STOP_SECONDS):
                process.kill()
                ends_within(process, STOP_SECONDS)
