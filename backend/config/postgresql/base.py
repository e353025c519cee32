"""The database engine: connections are kept, and looked at before a request uses one."""

import select
import time

from django.db.backends.postgresql import base
from psycopg import OperationalError

ASK_EVERY = 10.0
"""Seconds for which an answer of the server holds, as long as nothing speaks against it."""


class DatabaseWrapper(base.DatabaseWrapper):
    """Django asks `SELECT 1` at the beginning of every request.

    A server that ends or restarts closes its connections, which is there to be read without a
    round trip. Only what vanishes silently has to be asked, and that is asked now and then.
    """

    health_check_enabled: bool
    health_check_done: bool
    _asked_at = float("-inf")

    def close_if_health_check_failed(self) -> None:
        """Make sure, before the first statement of a request, that the connection lives."""
        if self.connection is None or not self.health_check_enabled or self.health_check_done:
            return
        now = time.monotonic()
        if now - self._asked_at < ASK_EVERY and self._is_quiet():
            self.health_check_done = True
            return
        self._asked_at = now
        super().close_if_health_check_failed()

    def _is_quiet(self) -> bool:
        """Whether the server has said nothing since the last answer: no farewell above all."""
        poll = select.poll()
        try:
            poll.register(self.connection.pgconn.socket, select.POLLIN)
        except OperationalError:  # closed on our side
            return False
        return not poll.poll(0)
