"""Start and stop child processes without leaving orphans.

Each child process has its own session. Ctrl-C therefore reaches only the parent, which stops the
children in order. On Linux, the kernel ends the children if the parent is killed. The environment
variable `MARK` identifies children that still run.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil

MARK = "CIPHERMARK_LAUNCHED_FOR"  # environment variable of children; the value is the data folder

# Only the last process that uses these servers may stop them, to avoid a loss of data.
SERVERS = ("postgres", "redis-server", "valkey-server")

END_SECONDS = 10.0
LAST_LINES = 15
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

Program = subprocess.Popen[bytes]


def start(command: Sequence[str | Path], data_dir: Path, log: IO[bytes] | None = None) -> Program:
    return subprocess.Popen(
        command,
        env={**os.environ, MARK: str(data_dir)},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        preexec_fn=_end_with_parent(),
    )


def _end_with_parent() -> Callable[[], None]:
    parent = os.getpid()

    def prepare() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
            if os.getppid() != parent:  # the parent was killed after the fork
                os._exit(1)

    return prepare


def end(program: Program) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.terminate()
        program.wait(END_SECONDS)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


def leftovers(data_dir: Path) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if _is_left(process, data_dir)]


def _is_left(process: psutil.Process, data_dir: Path) -> bool:
    try:
        is_ours = process.environ().get(MARK) == str(data_dir)
        return is_ours and process.pid != os.getpid() and process.name() not in SERVERS
    except (psutil.Error, OSError):
        return False  # another user's process, or ended


def end_leftovers(data_dir: Path) -> None:
    """Stop the processes that a killed `make run` with the same data folder has left running."""
    processes = leftovers(data_dir)
    for how in ("terminate", "kill"):
        for process in processes:
            with contextlib.suppress(psutil.Error):
                getattr(process, how)()
        _, processes = psutil.wait_procs(processes, timeout=END_SECONDS)


def run(
    what: str, command: Sequence[str | Path], log: Path, variables: Mapping[str, str] | None = None
) -> None:
    """Run a program and write the output to `log`.

    If the program fails, print the last lines of `log` and exit. `what`: description of the program
    for the error message.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as stream:
        done = subprocess.run(
            command,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            check=False,
        )
    if done.returncode != 0:
        sys.exit(f"{what} failed. Last lines of {log}:\n{last_lines(log)}")


def last_lines(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "\n".join(f"  {line}" for line in lines[-LAST_LINES:])
