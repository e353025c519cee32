import contextlib
import hashlib
import os
import re
import signal
import time
from pathlib import Path
from typing import ClassVar

import psutil
from django.core.exceptions import ImproperlyConfigured

STOP_SECONDS = 30.0
KILL_SECONDS = 5.0

LONGEST_DIRECTORY = 80  # bytes; the kernel limits socket paths to 107 bytes (103 on macOS)

# Paths that need no escaping in URLs, shells and comma-separated lists.
PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]+")


class EmbeddedServiceError(ImproperlyConfigured):
    pass


class Server:
    name: ClassVar[str]
    place: ClassVar[str]  # name of the server's folder and log
    program_names: ClassVar[tuple[str, ...]]
    stop_signal: ClassVar[signal.Signals]

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / self.place
        self.log = data_dir / "log" / f"{self.place}.log"

    def processes(self) -> list[psutil.Process]:
        # A process ID in a file may have been reused, so the program and folder identify a server.
        every = psutil.process_iter(["name", "ppid"])
        named = [process for process in every if process.info["name"] in self.program_names]
        return [process for process in named if self._works_here(process)]

    def process(self) -> psutil.Process | None:
        """Return the main process of the server, or None if the server is not running."""
        processes = self.processes()
        ids = {process.pid for process in processes}
        return next((process for process in processes if process.info["ppid"] not in ids), None)

    def stop(self) -> None:
        process = self.process()
        if process is None:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(self.stop_signal)
        if not self._ends_within(STOP_SECONDS):
            for left in self.processes():
                with contextlib.suppress(psutil.NoSuchProcess):
                    left.kill()
            self._ends_within(KILL_SECONDS)
        if self.sockets() != self.folder:
            with contextlib.suppress(OSError):
                self.sockets().rmdir()

    def sockets(self) -> Path:
        """Return the folder of the Unix socket: `folder`, or a private folder in /tmp.

        The folder in /tmp is used if the path of `folder` is too long or contains special
        characters. TMPDIR is ignored, so that every process uses the same path.
        """
        if len(os.fsencode(self.folder)) <= LONGEST_DIRECTORY and PLAIN_PATH.fullmatch(
            str(self.folder)
        ):
            return self.folder
        owner = self.folder.stat().st_uid
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        folder = Path("/tmp") / f"ciphermark-{owner}-{digest}"  # noqa: S108 (checked below)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            os.chown(folder, owner, -1)
        status = folder.lstat()
        if status.st_mode != 0o40700 or status.st_uid != owner:
            raise EmbeddedServiceError(
                f"{folder} is not a private folder of this user, so it cannot contain a socket. "
                "Remove it and start again."
            )
        return folder

    def _works_here(self, process: psutil.Process) -> bool:
        try:
            is_here = Path(process.cwd()) == self.folder
            return is_here and process.status() != psutil.STATUS_ZOMBIE
        except (psutil.Error, OSError):
            return False

    def _ends_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.processes():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


def last_line(log: Path) -> str:
    """Return the last error in a log, or the last line if the log contains no error."""
    text = log.read_text(errors="replace") if log.exists() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    faults = [line for line in lines if "FATAL" in line or "error" in line.lower()]
    return (faults or lines or ["no output"])[-1]
