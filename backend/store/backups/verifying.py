"""A backup tried: restored beside the site, and compared with what it says of itself."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import Error, connection
from psycopg import sql

from store.backups.manifest import Manifest, differences, manifest_of, read_manifest
from store.backups.programs import BackupRefused
from store.backups.restoring import restore


def verify(path: Path) -> Manifest:
    """What the backup holds; `BackupRefused` when a restore does not bring just that."""
    expected = read_manifest(path)
    name = f"{connection.settings_dict['NAME']}_verify"
    with _scratch_database(name):
        with path.open("rb") as file:
            restore(file, str(path), name)
        with closing(connection.copy()) as scratch:
            scratch.settings_dict["NAME"] = name
            found = manifest_of(scratch, expected.made_at)
    wrong = differences(expected, found)
    if wrong:
        raise BackupRefused(f"{path} does not bring back what was in it: {'; '.join(wrong)}.")
    return expected


@contextmanager
def _scratch_database(name: str) -> Iterator[None]:
    """A new database on the site's own server; one that a killed verification left goes first."""
    # A pooler keeps connections to it open for a while.
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    create = sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name))
    try:
        _execute(drop)
        _execute(create)
    except Error as error:
        role = connection.settings_dict["USER"] or "of DATABASE_URL"
        raise BackupRefused(
            f"A scratch database {name} cannot be made: {str(error).splitlines()[0]}. The role"
            f" {role} needs CREATEDB, and no other verification may run."
        ) from None
    try:
        yield
    finally:
        _execute(drop)


def _execute(statement: sql.Composed) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
