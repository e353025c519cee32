import os
import re
import select
import socket
import tempfile
import time
from typing import Any, List, NamedTuple, Optional, Set, Tuple

from ciphermark_agent import children
from ciphermark_agent.children import end_children, reap, start
from ciphermark_agent.common import MIB, TOOL_SECONDS, TryFailed

TRY_SECONDS = 60.0
# Steady method: the first 60 to 185 ms of a channel are slow (the TCP window opens), so the slope
# starts later; over 16 MiB the bursts of ssh's window updates (0.1 MiB) do not matter.
STEADY_MIN_BYTES = 16 * MIB
STEADY_MAX_SECONDS = 5.0
STEADY_POLL_SECONDS = 0.01
STEADY_STALL_SECONDS = 2.0  # a try fails after so long without progress
SPARSE_BYTES = 64 * 1024 * MIB  # bounded, so that an orphaned ssh ends
Cpus = Optional[Tuple[int, int]]  # client's and server's, if pinned


class Channel(NamedTuple):
    """Store the cipher, MAC and compression of an ssh connection. None means the default of ssh."""

    cipher: Optional[str]
    mac: Optional[str] = None
    compression: bool = False

    def in_words(self) -> str:
        return ((self.cipher or "client's choice") + " " + self.beyond_cipher()).strip()

    def beyond_cipher(self) -> str:
        words = ["with " + self.mac] if self.mac else []
        return " ".join(words + ["compressed"] * self.compression)

    def options(self) -> List[str]:
        words = ["-o", "Compression=%s" % ("yes" if self.compression else "no")]
        words += ["-c", self.cipher] if self.cipher else []
        return words + (["-m", self.mac] if self.mac else [])

    def server_options(self) -> List[str]:
        # By default, sshd refuses many old ciphers and MACs.
        words = ["-o", "Ciphers=+" + self.cipher] if self.cipher else []
        return words + (["-o", "MACs=+" + self.mac] if self.mac else [])

    def difference(self, used: "Negotiated") -> Optional[str]:
        for wanted, actual in ((self.cipher, used.cipher), (self.mac, used.mac)):
            if wanted is not None and actual != wanted:
                return "%s instead of %s" % (actual, wanted)
        if self.compression != (used.compression not in (None, "none")):
            return "compression %s" % used.compression
        return None


class Negotiated(NamedTuple):
    cipher: Optional[str] = None
    mac: Optional[str] = None
    kex: Optional[str] = None
    compression: Optional[str] = None


NAME = r"(\S{1,100})"  # bounded, because the remote side may write anything
KEX_LINE = r"kex: client->server cipher: %s MAC: %s compression: %s" % ((NAME,) * 3)


def parse_negotiated(log: str) -> Negotiated:
    """Return the last negotiated algorithms in the debug log of ssh, after those of jump hosts."""
    kex = (re.findall(r"kex: algorithm: " + NAME, log) or [None])[-1]
    lines = re.findall(KEX_LINE, log)
    if not lines:
        return Negotiated(kex=kex)
    cipher, mac, compression = lines[-1]
    return Negotiated(cipher.lower(), None if mac.startswith("<") else mac, kex, compression)


def sparse_file() -> Any:
    """Return an unnamed sparse file of zeros. Its `tell` counts the bytes that ssh has read."""
    shared = "/dev/shm"  # noqa: S108 - memory: a hole in it costs no page cache
    folder = shared if os.access(shared, os.W_OK) else None
    source = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - returned
    source.truncate(SPARSE_BYTES)
    return source


def steady_window(source: Any, seconds: float, warm_up: float) -> Tuple[int, float]:
    deadline = time.perf_counter() + STEADY_STALL_SECONDS
    while source.tell() == 0:
        if time.perf_counter() > deadline:
            raise TryFailed("ssh did not read its input within %g s" % STEADY_STALL_SECONDS)
        time.sleep(STEADY_POLL_SECONDS)
    time.sleep(warm_up)
    began, first = time.perf_counter(), source.tell()
    while True:
        time.sleep(STEADY_POLL_SECONDS)
        elapsed, moved = time.perf_counter() - began, source.tell() - first
        if elapsed >= seconds and (moved >= STEADY_MIN_BYTES or elapsed >= STEADY_MAX_SECONDS):
            return moved, elapsed


class Usage(NamedTuple):
    setup_seconds: float  # from the start of ssh to the first output of the remote command
    ended_at: float  # perf_counter when the remote command had read everything
    client_cpu: float
    server_cpu: Optional[float]  # None where it is unknown


class Transfer:
    """Run one ssh connection, and for this machine a separate sshd. End all child processes."""

    def __init__(self, server: Any, channel: Channel, source: int, cpus: Cpus) -> None:
        self.server, self.channel, self.source = server, channel, source
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
        except BaseException:
            self.__exit__()
            raise
        finally:
            os.close(write_end)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.output)
        if children._children:
            end_children()

    def connect(self, write_end: int) -> None:
        """Start ssh, and for this machine an `sshd -i` on the accepted socket, like inetd."""
        server = self.server
        open(server.path("sshd.log"), "wb").close()  # the previous connection's
        if server.label:
            self.start_client("", write_end)
            return
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            self.start_client(str(listener.getsockname()[1]), write_end)
            deadline = time.monotonic() + TOOL_SECONDS
            while not select.select([listener], [], [], 0.1)[0]:
                if time.monotonic() > deadline or reap(self.ssh.pid, os.WNOHANG)[0]:
                    raise self.failure()
            connection = listener.accept()[0]
        with connection, open(server.path("sshd.log"), "wb") as log:
            command, end = server.server_command(self.channel), connection.fileno()
            streams: Any = {"stdin": end, "stdout": end, "stderr": log, "cpus": self.cpus[1]}
            sshd = start(command, start_new_session=True, **streams)  # its CPU share: as of sshd -D
        self.awaited.add(sshd.pid)

    def start_client(self, port: str, write_end: int) -> None:
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

    def failure(self) -> TryFailed:
        """End all child processes, which completes the logs, and return the failure."""
        end_children()
        return TryFailed(self.server.explain(self.received.decode("utf-8", "replace")))

    def wait_for(self, marker: str, timeout: float = TOOL_SECONDS) -> float:
        """Wait until the remote command prints `marker`, and return the time of `perf_counter`.

        `marker`: "R" when the remote command has started, "D" when the command has read all data.
        """
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
        ended_at = self.wait_for("D", timeout)
        client, server, status, complete = 0.0, 0.0, -1, False
        deadline = time.monotonic() + children.REAP_SECONDS
        while not complete and time.monotonic() < deadline:
            try:
                pid, code, seconds = reap(-1, os.WNOHANG)
            except ChildProcessError:
                complete = True
                continue
            if pid == 0:
                time.sleep(0.002)
            elif pid == self.ssh.pid:
                client, status = seconds, code
            elif pid not in self.feeders:
                server += seconds
            if self.awaited == {pid}:
                deadline = time.monotonic() + children.ORPHAN_SECONDS
            self.awaited.discard(pid)
        if self.awaited or status != 0:
            raise self.failure()
        different = self.channel.difference(self.server.negotiated)
        if different:
            raise TryFailed("ssh negotiated " + different)
        trusted = complete and self.server.inherits_orphans
        return Usage(self.setup_seconds, ended_at, client, server if trusted else None)
