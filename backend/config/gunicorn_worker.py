"""gunicorn's threads, kept free of clients that send slowly, or take nothing of an answer.

gunicorn gives each connection a thread and lets it wait for the request: as many clients as there
are threads, each sending a byte a second, keep everybody else out. Here the main loop collects a
request and hands it to a thread once it has arrived. A body too large to collect needs a thread
while it arrives; such requests get some of the threads only, and one address gets half of those.
A request has `--timeout` seconds to arrive, and a client that takes nothing of its answer for as
long is given up.
"""

import contextlib
import selectors
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

from access.client_address import network_of
from config.request_arrival import MOST_BUFFERED, arrival

MOST_ARRIVING = 50
"""Unfinished requests of one address in one process; the oldest ends when one more comes."""


class BoundedWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """`--worker-class config.gunicorn_worker.BoundedWorker`.

    All methods but `handle` and `handle_request` run in the main loop, so nothing here needs a
    lock.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadlines: dict[TConn, float] = {}
        """Until when the request of a connection must have arrived."""
        self._arriving: dict[TConn, bytes] = {}
        """What has arrived so far, oldest connection first."""
        self._waiting: list[TConn] = []
        """Large requests that wait for a thread."""
        self._reading: set[TConn] = set()
        """Large requests that a thread is reading."""
        self._send_timeout = struct.pack("@ll", self.cfg.timeout, 0)
        self._most_reading = max(1, self.cfg.threads - 1)
        self._most_reading_of_one = max(1, self.cfg.threads // 2)

    def enqueue_req(self, conn: TConn) -> None:
        """A new connection, or one that is kept alive and has more to read."""
        self._deadlines[conn] = time.monotonic() + self.cfg.timeout
        self._arriving[conn] = conn.parser.unreader.take_buffered() if conn.initialized else b""
        conn.sock.setblocking(False)
        # In the kernel: gunicorn resets the timeout of Python's socket before it answers.
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, self._send_timeout)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._receive, conn))
        self._end_oldest_of(_address(conn))
        self._receive(conn)

    def _receive(self, conn: TConn, _: Any = None) -> None:
        """Collect what has arrived, and pass the request on once it is whole."""
        if conn not in self._arriving:
            return  # ended since the poller reported it
        try:
            received = conn.sock.recv(MOST_BUFFERED)
        except (BlockingIOError, InterruptedError):
            received = None
        except OSError:
            received = b""
        if received:
            self._arriving[conn] += received
        state = arrival(self._arriving[conn])
        if state == "complete" or received == b"":
            self._pass_on(conn)
        elif state == "large":
            self._take_from_loop(conn)
            self._waiting.append(conn)
            self._start_reading()

    def _pass_on(self, conn: TConn) -> None:
        """To a thread, with all that has arrived; what is missing does not come any more."""
        self._take_from_loop(conn)
        self._deadlines.pop(conn, None)
        super().enqueue_req(conn)

    def _take_from_loop(self, conn: TConn) -> None:
        self.poller.unregister(conn.sock)
        conn.data_ready = True
        conn.init()
        conn.parser.unreader.unread(self._arriving.pop(conn))

    def _start_reading(self) -> None:
        """Give threads to large requests, in the order of arrival, as far as limits allow."""
        reading = Counter(map(_address, self._reading))
        for conn in list(self._waiting):
            if len(self._reading) >= self._most_reading:
                return
            if reading[_address(conn)] < self._most_reading_of_one:
                reading[_address(conn)] += 1
                self._waiting.remove(conn)
                self._reading.add(conn)
                super().enqueue_req(conn)

    def handle_request(self, req: Any, conn: TConn) -> Any:
        """Answer a request, in a thread; a large one gives up its place once it has arrived."""
        if conn not in self._reading:
            return super().handle_request(req, conn)
        has_arrived = partial(self.method_queue.defer, self._has_arrived, conn)
        req.body.reader = reader = _WatchedReader(req.body.reader, has_arrived)
        try:
            return super().handle_request(req, conn)
        finally:
            reader.at_end = None

    def _has_arrived(self, conn: TConn) -> None:
        """However long its answer takes, its client is not slow."""
        self._deadlines.pop(conn, None)
        self._reading.discard(conn)
        self._start_reading()

    def finish_request(self, conn: TConn, fs: "Future[Any]") -> None:
        """A thread is done with a request."""
        self._deadlines.pop(conn, None)
        self._reading.discard(conn)
        super().finish_request(conn, fs)
        self._start_reading()

    def notify(self) -> None:
        """Called by the main loop at least once a second: end what takes too long to arrive.

        Only receiving ends. A request that has arrived, and an answer that is being sent, go on.
        """
        super().notify()
        now = time.monotonic()
        for conn, deadline in list(self._deadlines.items()):
            if now > deadline or (not self.alive and self._arriving.get(conn) == b""):
                self._stop_receiving(conn)

    def _end_oldest_of(self, address: str) -> None:
        same = [conn for conn in self._arriving if _address(conn) == address]
        for conn in same[:-MOST_ARRIVING]:
            self._stop_receiving(conn)

    def _stop_receiving(self, conn: TConn) -> None:
        """As if the client had ended here: a thread refuses what is not whole."""
        with contextlib.suppress(OSError):
            conn.sock.shutdown(socket.SHUT_RD)
        if conn in self._arriving:
            self._pass_on(conn)
        elif conn in self._waiting:
            self._waiting.remove(conn)
            self._deadlines.pop(conn)
            super().enqueue_req(conn)


class _WatchedReader:
    """gunicorn's reader of a body; calls `at_end` once the whole body has been read."""

    def __init__(self, reader: Any, at_end: Callable[[], None]) -> None:
        self._reader = reader
        self.at_end: Callable[[], None] | None = at_end

    def read(self, size: int) -> bytes:
        """As the reader does."""
        data: bytes = self._reader.read(size)
        # A chunked body has no length, and ends with an empty piece.
        is_whole = getattr(self._reader, "length", None) == 0 or (size > 0 and not data)
        if is_whole and self.at_end:
            self.at_end()
            self.at_end = None
        return data


def _address(conn: TConn) -> str:
    """Whose connection it is; the same for all that come through a local socket."""
    return network_of(conn.client[0]) if isinstance(conn.client, tuple) else ""
