"""gunicorn's threads, with a bound on how long a request may take to arrive.

gunicorn itself waits for ever for the rest of a header or body, a thread each: eight clients that
send a byte a second are enough to keep everybody else out. Here a request has `--timeout` seconds
from its first byte; what has not arrived by then is treated as cut off.
"""

import contextlib
import socket
import time
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker


class BoundedWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """`--worker-class config.gunicorn_worker.BoundedWorker`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadlines: dict[TConn, float] = {}

    def handle(self, conn: TConn) -> Any:
        """One request, in a thread of the pool."""
        self._deadlines[conn] = time.monotonic() + self.cfg.timeout
        try:
            return super().handle(conn)
        finally:
            self._deadlines.pop(conn, None)

    def notify(self) -> None:
        """Called by the main loop each second at least: end what takes too long to arrive.

        Only receiving ends. An answer that is being made is sent, and a request that has arrived
        whole is not disturbed.
        """
        super().notify()
        now = time.monotonic()
        for conn, deadline in list(self._deadlines.items()):
            if now > deadline:
                with contextlib.suppress(OSError):
                    conn.sock.shutdown(socket.SHUT_RD)
