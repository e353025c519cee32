"""Parameters bound by the server: bytes travel as they are, not as twice as long text."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection


@contextmanager
def binding_cursor() -> Iterator[psycopg.Cursor[Any]]:
    """A cursor of Django's connection, within its transaction and with its exceptions."""
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        psycopg.Cursor(cursor.connection) as binding,
    ):
        yield binding
