"""What the program asks: PostgreSQL, and the analytics copy in its own memory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.db import connection

from results.analytics import engine
from results.analytics.ask import Ask

Question = tuple[str, dict[str, Any]]
"""A statement and its parameters."""


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Every statement sent to PostgreSQL meanwhile, with its parameters in it.

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


@contextmanager
def asked_of_copy() -> Iterator[list[Question]]:
    """Every question to this process's analytics copy meanwhile."""
    found: list[Question] = []
    rows_of = Ask.__call__

    def note(ask: Ask, statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        found.append((statement, dict(parameters)))
        return rows_of(ask, statement, parameters)

    with patch.object(Ask, "__call__", note):
        yield found


class BareEngine:
    """The same copy through a connection of its own, with nothing around it."""

    def __init__(self) -> None:
        with engine.questions():
            copy = engine.engine().copy
        if copy is None:
            raise AssertionError("this process has no copy, although it has just answered")
        self._duck = copy.duck.cursor()

    def fetch(self, questions: list[Question]) -> None:
        """Ask each and bring its rows as Python values."""
        self._duck.begin()
        for statement, parameters in questions:
            self._duck.execute(statement, parameters).fetchall()
        self._duck.rollback()  # drops the temporary tables, which each answer creates
