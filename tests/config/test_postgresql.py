"""Kept connections: whether they live is rarely asked, and what is prepared on them stays."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DataError, NotSupportedError, connection, connections
from django.test.utils import CaptureQueriesContext

from config.postgresql.base import ASK_EVERY, DatabaseWrapper


@pytest.fixture
def kept(db: None) -> Iterator[DatabaseWrapper]:
    """A connection of its own."""
    made = connections.create_connection("default")
    assert isinstance(made, DatabaseWrapper)
    made.connect()
    yield made
    made.close()


def served_by(kept: DatabaseWrapper) -> int:
    """The server's process that answers the first statement of a request."""
    kept.health_check_enabled, kept.health_check_done = True, False
    with kept.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_the_server_is_asked_now_and_then_only(
    kept: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, asked, real = [1000.0], list[bool](), kept.is_usable

    def is_usable() -> bool:
        asked.append(real())
        return asked[-1]

    monkeypatch.setattr("config.postgresql.base.time.monotonic", lambda: now[0])
    monkeypatch.setattr(kept, "is_usable", is_usable)
    assert len({served_by(kept) for _ in range(3)}) == 1
    assert asked == [True]
    now[0] += ASK_EVERY
    served_by(kept)
    assert asked == [True, True]


def test_a_connection_that_the_server_ended_is_replaced(kept: DatabaseWrapper) -> None:
    before = served_by(kept)
    with connection.cursor() as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [before])
    assert served_by(kept) != before


PREPARED = "SELECT statement FROM pg_prepared_statements"


def test_a_prepared_statement_is_parsed_once_and_others_are_not_kept(kept: DatabaseWrapper) -> None:
    text = "SELECT n + %s FROM generate_series(1, 2) n"
    for one in range(3):
        with kept.prepared_cursor() as cursor, kept.cursor() as other:
            cursor.execute(text, [one])
            assert cursor.fetchall() == [(1 + one,), (2 + one,)]
            other.execute(text, [one])
    with kept.cursor() as cursor:
        cursor.execute(PREPARED)
        assert cursor.fetchall() == [("SELECT n + $1 FROM generate_series(1, 2) n",)]


def test_a_prepared_statement_outlives_rollbacks_errors_and_new_plans(
    kept: DatabaseWrapper,
) -> None:
    def root(of: int) -> Any:
        with kept.prepared_cursor() as cursor:
            cursor.execute("SELECT sqrt(%s::float8), count(*) FROM kept_numbers", [of])
            return cursor.fetchone()

    with kept.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE kept_numbers AS SELECT 1 AS n")
    assert root(4) == (2.0, 1)
    with pytest.raises(DataError):
        root(-4)
    kept.set_autocommit(False)
    assert root(9) == (3.0, 1)
    kept.rollback()
    kept.set_autocommit(True)
    with kept.cursor() as cursor:
        cursor.execute("ALTER TABLE kept_numbers ADD more int")
        cursor.execute("CREATE INDEX ON kept_numbers (n)")
    assert root(16) == (4.0, 1)


def test_a_prepared_statement_is_said_again_when_a_migration_changed_what_it_returns(
    kept: DatabaseWrapper,
) -> None:
    def text() -> Any:
        with kept.prepared_cursor() as cursor:
            cursor.execute("SELECT t FROM kept_texts WHERE t <> %s", [""])
            return cursor.fetchall()

    with kept.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE kept_texts AS SELECT 'a'::varchar(3) AS t")
    assert text() == [("a",)]
    with kept.cursor() as cursor:
        cursor.execute("ALTER TABLE kept_texts ALTER t TYPE varchar(5)")
    assert text() == [("a",)]
    with kept.cursor() as cursor:
        cursor.execute("ALTER TABLE kept_texts ALTER t TYPE varchar(7)")
    kept.set_autocommit(False)
    with pytest.raises(NotSupportedError):  # the transaction has failed, and must be begun again
        text()
    kept.rollback()
    assert text() == [("a",)]
    kept.rollback()
    kept.set_autocommit(True)
    assert text() == [("a",)]


def test_logs_show_a_prepared_statement_with_its_parameters(kept: DatabaseWrapper) -> None:
    with CaptureQueriesContext(kept) as seen, kept.prepared_cursor() as cursor:
        cursor.execute("SELECT %s::text", ["o'clock"])
    assert [one["sql"] for one in seen] == ["SELECT 'o''clock'::text"]
