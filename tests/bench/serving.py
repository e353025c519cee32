"""A real web server on the bench's database, and calls of it over one connection."""

import http.client
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from urllib.parse import quote

import psutil
from django.conf import settings
from django.db import connection

from launch import paths, preconditions, processes
from launch.site import web_server
from tests.bench.telling import say

START_SECONDS = 180.0
TOKEN_RATE = 1_000_000
"""Requests a minute of one token: they are counted as ever, only none is one too many."""


@dataclass
class Server:
    """A gunicorn that answers; `process` is its master."""

    port: int
    process: psutil.Process
    _connection: http.client.HTTPConnection | None = field(default=None)

    def get(self, path: str) -> bytes:
        """The body at a path, over a connection that stays open; anything but 200 is an error."""
        status, body = self.answer(path)
        if status != http.client.OK:
            raise AssertionError(f"{path} answers {status}: {body[:300]!r}")
        return body

    def answer(self, path: str) -> tuple[int, bytes]:
        """Status and body at a path."""
        try:
            return self._ask(path)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            return self._ask(path)  # the server ended the connection, which was idle for too long

    def _ask(self, path: str) -> tuple[int, bytes]:
        client = self._connection or self._connect()
        self._connection = None  # kept only when all goes well
        client.request("GET", path)
        answer = client.getresponse()
        body = answer.read()
        self._connection = client
        return answer.status, body

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(preconditions.HOST, self.port, timeout=600)

    def workers(self) -> list[psutil.Process]:
        """The processes that answer."""
        return self.process.children()

    def cpu_seconds(self) -> float:
        """CPU time of the workers so far."""
        return sum(sum(worker.cpu_times()[:2]) for worker in self.workers())


def database_url() -> str:
    """The URL of the database that Django is connected to."""
    base, _, _ = settings.DATABASE_URL.rpartition("/")
    return f"{base}/{quote(str(connection.settings_dict['NAME']))}"


running = ExitStack()
"""What `reader` has started; whoever measures ends it."""

_readers: list[Server] = []


def reader() -> Server:
    """The web server of one worker that all bars share which only read."""
    if not _readers:
        _readers.append(running.enter_context(server(workers=1)))
        running.callback(_readers.clear)
    return _readers[0]


@contextmanager
def server(workers: int = 2, variables: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Start the web server as `make run` does, with these variables; it ends with the context."""
    port = free_port()
    with _running("web", *web_server(port, workers), variables=variables or {}) as part:
        started = Server(port, psutil.Process(part.process.pid))
        _wait_for(started, part)
        yield started


@contextmanager
def worker() -> Iterator[None]:
    """Start a worker as `make run` does."""
    celery = ("-m", "celery", "-A", "config.celery", "worker", "--concurrency", "1")
    with _running("worker", *celery, "--without-mingle", "--without-gossip", variables={}):
        yield


@contextmanager
def _running(name: str, *arguments: str, variables: Mapping[str, str]) -> Iterator[processes.Part]:
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "REDIS_URL": settings.REDIS_URL,
        "CIPHERMARK_TOKEN_RATE": str(TOKEN_RATE),
        "PYTHONPATH": os.pathsep.join((str(paths.BACKEND), str(paths.PROJECT))),
        **variables,
    }
    part = processes.start(
        name,
        [sys.executable, *arguments],
        log=settings.DATA_DIR / "log" / f"bench-{name}.log",
        environment=environment,
        folder=paths.BACKEND,
    )
    try:
        yield part
    finally:
        processes.end(part)


def _wait_for(started: Server, part: processes.Part) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            started.get("/healthz")
            return
        except OSError:
            if part.ending() or time.monotonic() > deadline:
                if part.log:
                    say(processes.last_lines(part.log))
                raise
            time.sleep(0.1)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((preconditions.HOST, 0))
        port: int = probe.getsockname()[1]
        return port
