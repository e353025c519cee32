"""What can be known to be wrong before anything heavy starts."""

import errno
import fcntl
import os
import shutil
import socket
from pathlib import Path

from launch import paths
from launch.console import Problem

HOST = "127.0.0.1"
DEFAULT_PORT = 8000

FIRST_START_BYTES = 1_500_000_000
"""Virtual environment, node_modules and database of a first start, with some room."""

LATER_START_BYTES = 200_000_000

NEEDED_FILES = (
    "manage.py",
    "requirements.txt",
    "requirements-dev.txt",
    "agent/ciphermark_agent/__main__.py",
    "frontend/package.json",
    "frontend/package-lock.json",
)


def check_files() -> None:
    """Every part that the targets work on is in this copy of the project."""
    for name in NEEDED_FILES:
        if not (paths.PROJECT / name).is_file():
            raise Problem(
                f"{name} is missing in {paths.PROJECT}: this copy of Ciphermark is incomplete, "
                "clone it again."
            )


def check_folders() -> None:
    """The project and the data folder can be written to and have room."""
    folder = paths.data_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(
            f"The data folder {folder} cannot be made ({error.strerror}): clone Ciphermark where "
            "you may write, or set CIPHERMARK_DATA_DIR."
        ) from error
    for path in (paths.PROJECT, folder):
        if not os.access(path, os.W_OK | os.X_OK):
            raise Problem(
                f"{path} is not writable for this user: become its owner, or clone Ciphermark "
                "where you may write."
            )
    _check_room(paths.PROJECT, LATER_START_BYTES if paths.venv().exists() else FIRST_START_BYTES)
    _check_room(folder, LATER_START_BYTES)


def _check_room(folder: Path, wanted: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise Problem(
            f"The disk of {folder} has {free // 1_000_000} MB free and {wanted // 1_000_000} MB "
            "are needed: make room, or clone Ciphermark on another disk."
        )


def chosen_port() -> int:
    """`PORT`, or 8000."""
    text = os.environ.get("PORT") or str(DEFAULT_PORT)
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise Problem(f"PORT={text} is not a port number: it must be between 1 and 65535.")
    return int(text)


def check_port(port: int) -> None:
    """The site's address is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise Problem(_why_not(port, error)) from error


def _why_not(port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        other = port + 1 if port < 65535 else DEFAULT_PORT
        return (
            f"Port {port} is taken by another program: stop it, or choose another port with "
            f"`PORT={other} make run`."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} is for root alone: choose one above 1023, as in `PORT=8000 make run`."
    return f"The site cannot listen on {HOST}:{port} ({error.strerror}): try `PORT=8001 make run`."


class FolderLock:
    """One `make run` (or `make test`) in a data folder at a time; the kernel frees it."""

    VARIABLE = "CIPHERMARK_LOCK_DESCRIPTOR"

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: Path, target: str) -> "FolderLock":
        """Lock the folder, or say who has it. Works again after `exec` through `hand_over`."""
        inherited = os.environ.pop(cls.VARIABLE, "")
        if inherited:
            os.set_inheritable(int(inherited), False)
            return cls(int(inherited))
        descriptor = os.open(folder / f"{target}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.pread(descriptor, 200, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise Problem(
                f"`make {target}` already runs in this folder ({owner or 'just started'}): stop "
                "it there first, or give this one another folder with CIPHERMARK_DATA_DIR."
            ) from error
        return cls(descriptor)

    def describe(self, text: str) -> None:
        """What a second start is told about this one."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def hand_over(self) -> dict[str, str]:
        """Keep the lock through the `exec` that follows; returns what the environment needs."""
        os.set_inheritable(self._descriptor, True)
        return {self.VARIABLE: str(self._descriptor)}
