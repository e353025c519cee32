"""Run hand-written SQL, and read one snapshot of the database."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


def fetch_rows(
    statement: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Every row that a statement gives; what users sent is in `parameters`, never in its text."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


@contextmanager
def one_moment() -> Iterator[None]:
    """All that is read here is of one moment, whatever is stored meanwhile."""
    if connection.in_atomic_block:  # whoever began this transaction has chosen its view already
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
