"""One ssh connection and what it carries."""

import os
import select
import socket
import subprocess
import tempfile
import time
from typing import Any, NamedTuple, Optional, Set, Tuple

from ciphermark_agent import children
from ciphermark_agent.children import end_children, reap, start
from ciphermark_agent.common import MIB, TOOL_SECONDS, WORK_PREFIX, TryFailed
from ciphermark_agent.ssh_protocol import Channel, parse_negotiated

TRY_SECONDS = 60.0
# Steady method: the first 60 to 185 ms of a channel run slowly (the TCP window opens), so the
# slope starts later; at least 16 MiB make the bursts of ssh's window updates (0.1 MiB) vanish.
WARM_UP_SECONDS = 0.3
REMOTE_WARM_UP_SECONDS = 2.0  # the window of a long line opens slowly
STEADY_MIN_BYTES = 16 * MIB
STEADY_MAX_SECONDS = 5.0
STEADY_POLL_SECONDS = 0.01
STEADY_STALL_SECONDS = 2.0  # no progress of the file position for so long: none is to be expected
SPARSE_BYTES = 64 * 1024 * MIB  # bounded, so that an orphaned ssh ends by itself


class SparseFile:
    """Zeros as ssh's standard input.

    Agent and ssh share one open file description, so its position is ssh's progress, read at no
    cost to the transfer; truncating the file to nothing ends the stream. The file has no name
    left once it is open: nothing remains whatever happens.
    """

    def __init__(self) -> None:
        shared = "/dev/shm"  # noqa: S108 - memory: a hole in it costs no page cache
        try:
            folder = shared if os.access(shared, os.W_OK) else None
            self.descriptor, path = tempfile.mkstemp(prefix=WORK_PREFIX, dir=folder)
            os.unlink(path)
            os.ftruncate(self.descriptor, SPARSE_BYTES)
        except OSError as error:
            raise TryFailed("no sparse file can be made: %s" % error)

    def position(self) -> int:
        return os.lseek(self.descriptor, 0, os.SEEK_CUR)

    def end(self) -> None:
        os.ftruncate(self.descriptor, 0)

    def close(self) -> None:
        os.close(self.descriptor)


def steady_window(source: SparseFile, seconds: float, warm_up: float) -> Tuple[int, float]:
    """(bytes, seconds) of a window in the middle of the stream, after so long a warm-up."""
    deadline = time.perf_counter() + STEADY_STALL_SECONDS
    while source.position() == 0:
        if time.perf_counter() > deadline:
            raise TryFailed("ssh did not read its input within %g s" % STEADY_STALL_SECONDS)
        time.sleep(STEADY_POLL_SECONDS)
    time.sleep(warm_up)
    began, first = time.perf_counter(), source.position()
    while True:
        time.sleep(STEADY_POLL_SECONDS)
        now, position = time.perf_counter(), source.position()
        elapsed, moved = now - began, position - first
        if elapsed >= seconds and (moved >= STEADY_MIN_BYTES or elapsed >= STEADY_MAX_SECONDS):
            return moved, elapsed


class Usage(NamedTuple):
    """Times of one finished connection."""

    setup_seconds: float  # from starting ssh to the remote command's first word
    ended_at: float  # perf_counter when the remote command had read everything
    client_cpu: float
    server_cpu: Optional[float]  # None where it cannot be told


class Transfer:
    """One ssh connection with its own sshd, from start to the last reaped process.

    Use as a context manager: leaving it ends every process of the connection.
    """

    def __init__(
        self, server: Any, channel: Channel, source: int, cpus: Optional[Tuple[int, int]]
    ) -> None:
        self.server = server
        self.channel = channel
        self.source = source
        self.cpus = [{cpu} for cpu in cpus] if cpus else [None, None]  # of client and server
        self.received = b""
        self.feeders: Set[int] = set()
        self.awaited: Set[int] = set()
        self.setup_seconds = 0.0

    def __enter__(self) -> "Transfer":
        self.output, write_end = os.pipe()
        try:
            self.started = time.perf_counter()
            self.connect(write_end)
        except BaseException as error:
            self.__exit__()
            if isinstance(error, (OSError, subprocess.SubprocessError)):
                raise TryFailed("no connection could be started: %s" % error)
            raise
        finally:
            os.close(write_end)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.output)
        if children._children:
            end_children()

    def connect(self, write_end: int) -> None:
        """Be inetd for a private sshd: accept the one connection of our ssh and hand it over."""
        server = self.server
        if server.label:
            self.start_client(0, write_end)
            return
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            self.start_client(listener.getsockname()[1], write_end)
            connection = self.accept(listener)
        with connection, open(server.path("sshd.log"), "wb") as log:
            sshd = start(
                server.server_command(self.channel),
                stdin=connection.fileno(),
                stdout=connection.fileno(),
                stderr=log,
                cpus=self.cpus[1],
            )
        self.awaited.add(sshd.pid)

    def start_client(self, port: int, write_end: int) -> None:
        with open(self.server.path("ssh.log"), "wb") as log:
            self.ssh = start(
                self.server.command(self.channel, port),
                stdin=self.source,
                stdout=write_end,
                stderr=log,
                env=self.server.client_env,
                cpus=self.cpus[0],
                file_bytes=children.LOG_BYTES,
            )
        self.awaited.add(self.ssh.pid)

    def accept(self, listener: socket.socket) -> socket.socket:
        """The connection of our ssh; TryFailed when it gives up before."""
        deadline = time.monotonic() + TOOL_SECONDS
        while time.monotonic() < deadline:
            if select.select([listener], [], [], 0.1)[0]:
                return listener.accept()[0]
            if reap(self.ssh.pid, os.WNOHANG)[0]:
                break
        raise self.failure()

    def failure(self) -> TryFailed:
        """Ends the connection, so that its logs are complete, and says why it failed."""
        end_children()
        return TryFailed(self.server.explain(self.received.decode("utf-8", "replace")))

    def wait_for(self, marker: str, timeout: float = TOOL_SECONDS) -> float:
        """perf_counter at the arrival of a marker of the remote command."""
        wanted = (marker + self.server.marker).encode("ascii")
        deadline = time.monotonic() + timeout
        while wanted not in self.received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.output], [], [], left)[0]:
                end_children()
                raise TryFailed("the transfer did not end within %g s" % timeout)
            chunk = os.read(self.output, 65536)
            if not chunk:
                raise self.failure()
            self.received = (self.received + chunk)[-65536:]
        now = time.perf_counter()
        if marker == "R":
            self.setup_seconds = now - self.started
            self.server.negotiated = parse_negotiated(self.server.read("ssh.log"))
        return now

    def finish(self, timeout: float = TRY_SECONDS) -> Usage:
        """Wait for the end of the stream, reap every process, account for its CPU seconds."""
        ended_at = self.wait_for("D", timeout)
        client, server, complete = 0.0, 0.0, False
        status = None
        deadline = time.monotonic() + children.REAP_SECONDS
        while time.monotonic() < deadline:
            try:
                pid, code, seconds = reap(-1, os.WNOHANG)
            except ChildProcessError:
                complete = True
                break
            if pid == 0:
                time.sleep(0.002)
            elif pid == self.ssh.pid:
                client, status = seconds, code
            elif pid not in self.feeders:
                server += seconds
            if pid in self.awaited:
                self.awaited.remove(pid)
                if not self.awaited:
                    deadline = time.monotonic() + children.ORPHAN_SECONDS
        if self.awaited or status != 0:
            raise self.failure()
        # A measurement of another cipher than the one asked for is an error, not a result.
        different = self.channel.difference(self.server.negotiated)
        if different:
            raise TryFailed("ssh negotiated " + different)
        trusted = complete and self.server.inherits_orphans
        return Usage(self.setup_seconds, ended_at, client, server if trusted else None)
