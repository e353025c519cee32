"""Provide process helpers for the launch tests."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from config.embedded import release_services, stop_services

PROJECT = Path(__file__).resolve().parent.parent.parent

UseServices = Callable[[Path], "subprocess.Popen[str]"]
"""Function that starts another process that uses a folder's servers until its input is closed."""

MakeProgram = Callable[[str, str], Path]
"""Function that puts a shell script with this name and content on PATH."""


@contextmanager
def private_folder() -> Iterator[Path]:
    """Create a folder with a short path; stop its servers at the end.

    pytest's folders are too long for a socket, and root's are not accessible to PostgreSQL's
    user.
    """
    folder = Path("/tmp") / f"cm-{os.getpid()}-{time.monotonic_ns() % 10**9}"
    folder.mkdir()
    try:
        yield folder
    finally:
        for place in (folder, *folder.iterdir()):
            release_services(place)
            stop_services(place)
        shutil.rmtree(folder, ignore_errors=True)


def servers_of(folder: Path) -> set[str]:
    """List the programs that currently run inside a folder."""
    names = set()
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()).is_relative_to(
                folder
            ):
                names.add(process.name())
        except (psutil.Error, OSError):
            continue
    return names


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Return whether a condition becomes true in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def free_port() -> int:
    """Return an unused port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_listening(port: int) -> bool:
    """Return whether a process on 127.0.0.1 accepts connections on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
