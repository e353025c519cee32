"""Prepared statements stand on Django's own connection, and live as long as it does."""

from typing import Any

import pytest
from django.db import connection, connections

from store import statements
from store.statements import prepared_cursor

PREPARED = "SELECT statement FROM pg_prepared_statements"


@pytest.fixture
def kept(db: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A connection of its own, as a request finds it."""
    made = connections.create_connection("default")
    made.connect()
    monkeypatch.setattr(statements, "connection", made)
    yield made
    made.close()


def served_by(kept: Any) -> int:
    """The server's process that answers the first statement of a request, a prepared one."""
    kept.health_check_enabled, kept.health_check_done = True, False
    with prepared_cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()", [])
        return int(cursor.fetchone()[0])


def test_a_connection_that_the_server_ended_is_replaced(kept: Any) -> None:
    before = served_by(kept)
    assert served_by(kept) == before
    with connection.cursor() as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [before])
    assert served_by(kept) != before


def test_a_statement_is_prepared_once_and_those_of_other_cursors_are_not(kept: Any) -> None:
    for number in range(3):
        with prepared_cursor() as cursor:
            cursor.execute("SELECT %s::int + 1", [number])
            assert cursor.fetchone() == (number + 1,)
    with kept.cursor() as other:
        other.execute("SELECT 5")
        other.execute(PREPARED)
        assert [text for (text,) in other.fetchall()] == ["SELECT $1::int + 1"]
