"""The program's own statements, run by a bare driver: the floor of what reads the database."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import psycopg
from django.db import connection

from tests.bench.fleet.copying import dsn

NOT_FIGURES = ("runs_dataversion", "runs_apitoken", "django_session", "auth_user")
"""Tables that a request looks into besides what it is asked for."""


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Every statement sent meanwhile, with its parameters in it.

    Django's own capturing cannot be around a COPY that has parameters; what COPY sends is not
    recorded here.
    """
    found: list[str] = []

    def note(
        execute: Callable[..., Any], statement: str, parameters: Any, many: bool, context: Any
    ) -> Any:
        answer = execute(statement, parameters, many, context)
        cursor = context["cursor"].cursor
        found.append(connection.ops.last_executed_query(cursor, statement, parameters))
        return answer

    with connection.execute_wrapper(note):
        yield found


def is_select(statement: str) -> bool:
    """Whether a statement only reads."""
    return statement.lstrip(" \n(").upper().startswith(("SELECT", "WITH"))


def statements_of(call: Callable[[], object]) -> list[str]:
    """The SELECTs of figures that the call sends to the database."""
    with recorded() as statements:
        call()
    return [
        statement
        for statement in statements
        if is_select(statement) and not any(table in statement for table in NOT_FIGURES)
    ]


class BareConnection:
    """psycopg without Django around it."""

    def __enter__(self) -> Self:
        self._raw = psycopg.connect(dsn(), autocommit=True)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._raw.close()

    def fetch(self, statements: Sequence[str]) -> None:
        """Run each and bring its rows as Python values."""
        for statement in statements:
            self._raw.execute(statement.encode()).fetchall()
