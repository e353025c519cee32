"""The program's own statements, run by a bare driver: the floor of what reads the database."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import psycopg
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.bench.fleet.copying import dsn

NOT_FIGURES = ("runs_dataversion", "runs_apitoken", "django_session", "auth_user")
"""Tables that a request looks into besides what it is asked for."""


def statements_of(call: Callable[[], object]) -> list[str]:
    """The SELECTs that the call sends to the database, with their parameters in them."""
    with CaptureQueriesContext(connection) as captured:
        call()
    return [
        query["sql"]
        for query in captured.captured_queries
        if query["sql"].lstrip(" \n(").upper().startswith(("SELECT", "WITH"))
        and not any(table in query["sql"] for table in NOT_FIGURES)
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
