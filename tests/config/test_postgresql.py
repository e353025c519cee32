"""Whether a kept connection lives is seen without asking the server, nearly always."""

from collections.abc import Iterator

import pytest
from django.db import connection, connections

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
