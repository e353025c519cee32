"""What the hand-written statements share: how they run, in one moment; which run is the latest."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import Cursor

LATEST_FIRST = "r.started_at DESC NULLS LAST, r.id DESC"
"""A run of unknown date is never the latest; of one moment the one stored later counts."""


@dataclass(frozen=True)
class Relation:
    """A piece of SQL with its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


def fetch_rows(
    statement: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Every row that a statement gives; what users sent is in `parameters`, never in its text."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


class _PreparedCursor(Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **options: Any) -> "_PreparedCursor":
        """Prepare the statement on this connection, whose other cursors prepare none."""
        self.connection.prepare_threshold = 0
        try:
            super().execute(query, params, **options)
        finally:
            self.connection.prepare_threshold = None
        return self


def prepared_cursor() -> CursorWrapper:
    """A cursor of Django's connection for statements that are run again and again.

    The server parses them once for each connection, and binds the parameters: bytes travel as
    they are, not as text twice as long. A statement must tell the type of each parameter.
    """
    connection.close_if_health_check_failed()  # as Django's own cursors do
    connection.ensure_connection()
    cursor: Any = _PreparedCursor(connection.connection)
    return connection.make_cursor(cursor)


def array(values: Iterable[float | None]) -> str:
    """PostgreSQL's literal of an array of numbers or truth values, spelt as JSON spells them.

    The driver would look at each of them by itself.
    """
    return f"{{{orjson.dumps(list(values))[1:-1].decode()}}}"


@contextmanager
def one_moment(database: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """All that is read here is of one moment, whatever is stored meanwhile."""
    chosen = connections[database]
    if chosen.in_atomic_block:  # whoever began this transaction has chosen its view already
        yield
        return
    with transaction.atomic(database):
        with chosen.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
