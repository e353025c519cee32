"""What the hand-written statements share: how they run, and in one moment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
from django.db import connection, transaction


def fetch_rows(
    statement: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Every row that a statement gives; what users sent is in `parameters`, never in its text."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def array(values: Iterable[float | None]) -> str:
    """PostgreSQL's literal of an array of numbers or truth values, spelt as JSON spells them.

    The driver would look at each of them by itself.
    """
    return f"{{{orjson.dumps(list(values))[1:-1].decode()}}}"


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
