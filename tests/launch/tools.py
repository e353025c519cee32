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

# Starts a process that uses the servers in a folder until the process's input is closed.
UseServices = Callable[[Path], "subprocess.Popen[str]"]

# Puts a shell script with this name and content on PATH.
MakeProgram = Callable[[str, str], Path]


@contextmanager
def private_folder() -> Iterator[Path]:
    """Yield a new folder below /tmp. At exit, stop the servers in the folder and delete the folder.

    The paths of pytest's folders are too long for a Unix socket. If root runs the tests, the user
    of PostgreSQL has no access to pytest's folders.
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
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
