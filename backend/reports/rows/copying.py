"""Rows straight from PostgreSQL's COPY, passed on in chunks."""

from collections.abc import Generator
from contextlib import nullcontext

from django.db import connection, transaction

from store.statements import Relation

CHUNK_BYTES = 64 * 1024

_HEADER = 19
"""Bytes before the first row of a binary COPY: signature, flags, length of the extension."""

_NUMBER, _TEXT = 6, 14
"""Where, in a message, the number of rows and their text begin."""


def copy_out(statement: Relation) -> Generator[tuple[bytes, int]]:
    """The rows in chunks of about 64 kB or one run, each with the number of rows in it.

    Binary, because only that leaves text as it is. The server sends a message for each row of
    the statement: two fields, the number of rows of the file and their text, each after its
    length; the last message says that no more come.
    """
    command = f"COPY ({statement.sql}) TO STDOUT WITH (FORMAT binary)"
    buffer, rows, start = bytearray(), 0, _HEADER
    # A COPY that is broken off fails; a transaction around it must be able to go on.
    around = transaction.atomic() if connection.in_atomic_block else nullcontext()
    with (
        around,
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(command, statement.parameters) as copy,
    ):
        for message in copy:
            if len(message) < _TEXT:  # the end; what follows it ends the command
                continue
            rows += int.from_bytes(message[start + _NUMBER : start + _NUMBER + 4])
            buffer += message[start + _TEXT :]
            start = 0
            if len(buffer) >= CHUNK_BYTES:
                yield bytes(buffer), rows
                buffer, rows = bytearray(), 0
    if rows:
        yield bytes(buffer), rows
