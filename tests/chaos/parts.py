"""The parts of a site that can be killed, paused and started again, each a process of our own."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from config.embedded.postgres import Postgres
from config.embedded.redis_server import RedisServer
from config.embedded.running_servers import ends_within
from tests.production_shape import PROJECT

STOP_SECONDS = 30.0


class Program:
    """A part that we start: web, worker or beat, with all the processes it starts."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self._command = list(command)
        self._environment = dict(environment)
        self._log = Path(environment["CIPHERMARK_DATA_DIR"]) / "log" / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, in a session of its own."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=PROJECT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_if_ended(self) -> None:
        """What watches over the parts (compose, systemd) starts one again that ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            self.start()

    def processes(self) -> list[psutil.Process]:
        """The first process and all that descend from it."""
        if self._process is None:
            return []
        return _tree(self._process.pid)

    def kill(self) -> None:
        """kill -9, all of it at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def stop(self) -> None:
        """Ask it to end; kill it when it does not."""
        if self._process is None:
            return
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        self.kill()
        self._process = None


class Server:
    """An embedded PostgreSQL or Redis."""

    def __init__(self, name: str, server: Postgres | RedisServer) -> None:
        self.name = name
        self._server = server

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._server.ensure_running()

    def processes(self) -> list[psutil.Process]:
        """The first process and all that descend from it."""
        process = self._server.process()
        return [] if process is None else _tree(process.pid)

    def kill(self) -> None:
        """kill -9 of the first process; PostgreSQL's others notice and end themselves."""
        process = self._server.process()
        if process is not None:
            process.kill()
            ends_within(process, STOP_SECONDS)

    def stop(self) -> None:
        """Stop it in order."""
        self._server.stop()


Part = Program | Server


def _tree(pid: int) -> list[psutil.Process]:
    try:
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


@contextlib.contextmanager
def paused(part: Part) -> Iterator[None]:
    """SIGSTOP to every process of the part, SIGCONT at the end."""
    stopped = part.processes()
    _signal(stopped, signal.SIGSTOP)
    try:
        yield
    finally:
        _signal(stopped, signal.SIGCONT)


def kill_one_child(part: Part, wanted: Callable[[psutil.Process], bool] = lambda _: True) -> None:
    """kill -9 of one process that the part has started: as the kernel does when memory is short."""
    for child in part.processes()[1:]:
        if wanted(child):
            _signal([child], signal.SIGKILL)
            return


def _signal(processes: Sequence[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def wait_until(holds: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for something to come true; AssertionError that says what did not."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.1)
