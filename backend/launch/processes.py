"""Starting and ending programs so that none is left behind.

Each program leads its own session, so a Ctrl-C in the terminal reaches only us and we end the
others in order. On Linux the kernel ends them when we are killed; and all carry a mark in their
environment, by which `launch.orphan_processes` recognises what is left in any other case.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any

from launch import paths
from launch.console import Problem, say

MARK = "CIPHERMARK_LAUNCHED_FOR"
"""Environment variable of everything we start; its value is the data folder."""

LAST_LINES = 15
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Interrupted(BaseException):
    """Somebody wants us to end: Ctrl-C, SIGTERM or a closed terminal. No error."""


def end_on_signals() -> None:
    """Turn the first request to end into `Interrupted`; later ones change nothing."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        ignore_signals()
        raise Interrupted(signal.Signals(number).name)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def ignore_signals() -> None:
    """From here on we are ending, in order and in bounded time."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


@dataclass(frozen=True)
class Part:
    """A running program of ours. `log` is None when it writes to the terminal."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path | None

    def ending(self) -> str | None:
        """How it ended, in words, or None while it runs."""
        status = self.process.poll()
        if status is None:
            return None
        if status < 0:
            return f"was ended by signal {-status} ({signal.Signals(-status).name})"
        return f"ended with exit code {status}"


def start(
    name: str,
    command: Sequence[str | Path],
    *,
    log: Path | None = None,
    output: IO[Any] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path = paths.PROJECT,
) -> Part:
    """Start a program. All it writes goes to `log` (the previous one is kept) or the terminal;
    with `output`, what it prints goes there and only its errors to the log.
    """
    settings = {**(os.environ if environment is None else environment)}
    settings[MARK] = str(paths.data_dir())
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(_fresh(log).open("wb")) if log else None
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=output or stream,
            stderr=stream,
            start_new_session=True,
            preexec_fn=_before_exec(),
        )
    return Part(name, process, log)


def _before_exec() -> Callable[[], None]:
    parent = os.getpid()

    def prepare() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
            if os.getppid() != parent:  # it was killed between fork and here
                os._exit(1)

    return prepare


def _fresh(log: Path) -> Path:
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists():
        log.replace(log.with_suffix(".previous.log"))
    return log


def run(
    name: str,
    command: Sequence[str | Path],
    *,
    log: Path | None = None,
    output: IO[Any] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path = paths.PROJECT,
    watch: Callable[[], None] | None = None,
    asked_by: signal.Signals = signal.SIGTERM,
) -> int:
    """Run a program to its end and return its exit status; `watch` may raise meanwhile.

    When we are interrupted it is asked to end with the signal `asked_by`.
    """
    part = start(name, command, log=log, output=output, environment=environment, folder=folder)
    try:
        while part.process.poll() is None:
            if watch is not None:
                watch()
            with contextlib.suppress(subprocess.TimeoutExpired):
                part.process.wait(0.1)
    finally:
        end(part, asked_by=asked_by)
    return part.process.returncode


def end(part: Part, seconds: float = 10.0, asked_by: signal.Signals = signal.SIGTERM) -> None:
    """Ask a program to end, kill it after `seconds`, and kill what it left in its session."""
    if part.process.poll() is None:
        part.process.send_signal(asked_by)
        try:
            part.process.wait(seconds)
        except subprocess.TimeoutExpired:
            say(f"{part.name} does not end by itself; killing it.")
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(part.process.pid, signal.SIGKILL)
    part.process.wait()


def last_lines(log: Path, count: int = LAST_LINES) -> str:
    """The end of a log, indented for showing."""
    if not log.exists():
        return "  (no log)"
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 20_000))
        lines = stream.read().decode(errors="replace").splitlines()
    written = [line for line in lines if line.strip()]
    return "\n".join(f"  {line}" for line in written[-count:]) or "  (it wrote nothing)"


def require(what: str, status: int, log: Path, hint: str = "") -> None:
    """Raise a `Problem` with the last lines of the log unless the step succeeded."""
    if status != 0:
        say(last_lines(log))
        raise Problem(
            f"{what} failed (exit code {status}){hint}; its whole log: {paths.shown(log)}"
        )


def wait_until(
    ready: Callable[[], bool], *, seconds: float, watch: Callable[[], None], pause: float = 0.1
) -> bool:
    """Poll `ready` until it is true or time is up; `watch` may raise meanwhile."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            return False
        watch()
        time.sleep(pause)
    return True
