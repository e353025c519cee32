"""What the hand-written statements share: how they are run, and which run is the latest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.db import connection

from store.prepared import prepared_cursor

LATEST_FIRST = "r.started_at DESC NULLS LAST, r.id DESC"
"""A run of unknown date is never the latest; of one moment the one stored later counts."""


@dataclass(frozen=True)
class Relation:
    """A piece of SQL with its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


def fetch_rows(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Every row of a SELECT; what users sent is in `parameters`, never in the statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def fetch_prepared(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The same of a statement whose best plan does not hang on the parameters.

    For what is asked so often, and answered so soon, that planning it takes longest.
    """
    with prepared_cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def array(values: Iterable[float | None]) -> str:
    """PostgreSQL's literal of an array of numbers or truth values, spelt as JSON spells them.

    The driver would look at each of them by itself.
    """
    return f"{{{orjson.dumps(list(values))[1:-1].decode()}}}"
