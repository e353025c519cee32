"""The database engine: connections are kept, and looked at before a request uses one."""

import select
import time
from typing import Any

from django.db.backends.postgresql import base, operations
from django.db.backends.utils import CursorWrapper
from psycopg import Cursor, OperationalError, errors
from psycopg.pq import TransactionStatus

ASK_EVERY = 10.0
"""Seconds for which an answer of the server holds, as long as nothing speaks against it."""


class PreparedCursor(Cursor[Any]):
    """A cursor whose statements the server parses once for each connection, and plans seldom.

    The server binds the parameters: bytes travel as they are, not as twice as long text.
    """

    def execute(self, query: Any, params: Any = None, **options: Any) -> "PreparedCursor":
        """As ever. The driver keeps a hundred statements, and none that comes another way."""
        self.connection.prepare_threshold = 0
        try:
            self._execute(query, params, **options)
        finally:
            self.connection.prepare_threshold = None
        return self

    def _execute(self, query: Any, params: Any, **options: Any) -> None:
        try:
            super().execute(query, params, **options)
        except errors.FeatureNotSupported:
            # A column that it returns has another type now, by a migration. In a transaction,
            # which has failed by that, it can't be said again; the next one will do.
            if self.connection.info.transaction_status != TransactionStatus.IDLE:
                raise
            self.connection.execute("DEALLOCATE ALL")
            super().execute(query, params, **options)


class DatabaseOperations(operations.DatabaseOperations):
    """Django's would show a prepared statement without its parameters."""

    def last_executed_query(self, cursor: Any, sql: str, params: Any) -> str:
        """The statement with its parameters in it, for logs and tests."""
        if isinstance(cursor, PreparedCursor):
            return str(self.compose_sql(sql, params))
        return super().last_executed_query(cursor, sql, params)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django asks `SELECT 1` at the beginning of every request.

    A server that ends or restarts closes its connections, which is there to be read without a
    round trip. Only what vanishes silently has to be asked, and that is asked now and then.
    """

    ops_class = DatabaseOperations
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

    def prepared_cursor(self) -> CursorWrapper:
        """A cursor like `cursor()`, for texts of statements that are run again and again.

        Where a parameter stands must tell its type. The plan may be one for all parameters.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        self.validate_thread_sharing()
        cursor: Any = PreparedCursor(self.connection)
        return self.make_debug_cursor(cursor) if self.queries_logged else self.make_cursor(cursor)
