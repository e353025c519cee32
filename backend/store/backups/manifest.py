"""What a backup holds, as its last line says it: the rows of each table, checksums of documents.

The line stands behind the dump, where pg_restore does not look: the file is an ordinary dump.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from store.backups.programs import BackupRefused
from store.models import ImportedText, MovedDocument, RunDocument

FORMAT = "ciphermark/backup/1"
LEFT_OUT = "django_session"
MOVED = MovedDocument._meta.db_table
"""Where documents lie in object storage: after a restore none does."""
LONGEST = 256 * 1024
"""Bytes of a manifest; ours have a few thousand."""

VERBATIM = (RunDocument, ImportedText)
"""Tables whose `body` is what people and agents sent: nothing could derive it anew."""


@dataclass(frozen=True)
class Manifest:
    """What was in the database at the moment of the backup."""

    made_at: str
    rows: Mapping[str, int]
    sha256: Mapping[str, str]
    """Of all verbatim bytes of a table, in the order of its keys."""

    def as_line(self) -> bytes:
        """The line behind the dump."""
        return f"\n{json.dumps({'format': FORMAT, **asdict(self)})}\n".encode()


def manifest_of(database: BaseDatabaseWrapper, made_at: str) -> Manifest:
    """What the database holds now."""
    with database.cursor() as cursor:
        every = set(database.introspection.table_names(cursor))
        names = sorted(every - {LEFT_OUT, MOVED})
        rows, sha256 = {}, {}
        for name in names:
            counted = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))
            cursor.execute(counted)
            rows[name] = int(cursor.fetchone()[0])
        for model in VERBATIM:
            table, key = model._meta.db_table, model._meta.pk.column
            if table in names:
                moved = table == RunDocument._meta.db_table and MOVED in every
                cursor.execute(_checksum(table, key, moved))  # type: ignore[arg-type]
                sha256[table] = str(cursor.fetchone()[0])
    return Manifest(made_at, rows, sha256)


_CHECKSUM = """
SELECT encode(sha256(coalesce(string_agg({one}, ''::bytea ORDER BY t.{key}), '')), 'hex')
FROM {table} t {joined}
"""


def _checksum(table: str, key: str, moved: bool) -> sql.Composed:
    """Of the checksums of the rows: the server reads each body once and sends 64 characters.

    Of a document in object storage the checksum is known: it is the same here and there.
    """
    one, joined = "sha256(t.body)", ""
    if moved:
        one = f"coalesce({one}, decode(m.sha256, 'hex'))"
        joined = f"LEFT JOIN {MOVED} m ON m.id = t.moved_id"
    return sql.SQL(_CHECKSUM).format(
        one=sql.SQL(one),
        key=sql.Identifier(key),
        table=sql.Identifier(table),
        joined=sql.SQL(joined),
    )


def read_manifest(path: Path) -> Manifest:
    """Of a backup; `BackupRefused` where the file does not end with one."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - LONGEST))
        end = file.read()
    try:
        said = json.loads(end.rpartition(b"\n{")[2].join((b"{", b"")))
        if said["format"] == FORMAT:
            return Manifest(str(said["made_at"]), dict(said["rows"]), dict(said["sha256"]))
    except (ValueError, KeyError, TypeError):
        pass
    raise BackupRefused(
        f"{path} does not end with a list of what is in it: the file is cut off, or was made by"
        " version 1.0."
    )


def differences(expected: Manifest, found: Manifest) -> list[str]:
    """What is not as the backup says, a phrase each."""
    tables = sorted({*expected.rows, *found.rows})
    counts = [(table, expected.rows.get(table), found.rows.get(table)) for table in tables]
    wrong = [
        f"{table} has {_rows(now)} instead of {_rows(then)}"
        for table, then, now in counts
        if then != now
    ]
    return wrong + [
        f"the bytes in {table} are others"
        for table, checksum in expected.sha256.items()
        if found.sha256.get(table) != checksum
    ]


def _rows(number: int | None) -> str:
    return "no table" if number is None else f"{number:,} rows"
