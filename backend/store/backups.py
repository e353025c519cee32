"""A whole site in one file, and back: pg_dump's custom format, the verbatim documents included.

What people are signed in with (sessions) stays out: a backup is no way in.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import QuerySet

from analysis.profiles.reference_profiles import initial_profile
from store.database_programs import ProgramFailed, find_program, run_program
from store.models import ApiToken, AuditEntry, ImportedText, ReferenceProfile, Run, Share
from store.roles import ROLES

DUMP = ("--format=custom", "--no-owner", "--no-privileges", "--exclude-table-data=django_session")
"""The database as one moment saw it."""

MIGRATIONS = "django_migrations"

BEGIN = b"""\\set ON_ERROR_STOP on
BEGIN;
SET LOCAL lock_timeout = '10s';
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
"""

_DUMPED_SCHEMA = re.compile(rb"^(CREATE SCHEMA public;|COMMENT ON SCHEMA public .*;)$")

Migration = tuple[str, str]
"""App and name."""


class BackupRefused(Exception):
    """Why there is no backup or restore: one sentence."""


def write_backup(path: Path) -> int:
    """Write the database to a new file, readable by its owner alone; its size in bytes.

    The file appears under its name only when it is whole.
    """
    if path.exists():
        raise BackupRefused(f"{path} exists already; a backup is never written over another.")
    part = path.with_name(f"{path.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            run_program(find_program("pg_dump"), [*DUMP, f"--file={part}"])
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        part.rename(path)
    except OSError as error:
        raise BackupRefused(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)
    return path.stat().st_size


def dump_to(stream: IO[bytes]) -> None:
    """The same as a stream."""
    run_program(find_program("pg_dump"), DUMP, target=stream)


def is_empty() -> bool:
    """Whether this database holds no more than a fresh start puts there.

    That is the published runs, the first reference profile and the roles. Whatever else people
    and programs bring or change is in one of these tables; all changes are in the audit log.
    """
    tables = set(connection.introspection.table_names())
    if Run._meta.db_table not in tables:
        return not tables
    brought: tuple[QuerySet[Any], ...] = (
        Run.objects.exclude(source=Run.Source.PUBLISHED),
        ImportedText.objects.all(),
        ApiToken.objects.all(),
        get_user_model()._default_manager.all(),
        ReferenceProfile.objects.exclude(name=initial_profile().name),
        Share.objects.all(),
        Group.objects.exclude(name__in=ROLES),
        AuditEntry.objects.all(),
    )
    return not any(rows.model._meta.db_table in tables and rows.exists() for rows in brought)


def migrations_in(path: Path) -> set[Migration]:
    """The migrations that a backup was made after; `BackupRefused` for a file that is none."""
    try:
        options = ("--data-only", f"--table={MIGRATIONS}", "--file=-", str(path))
        text = run_program(find_program("pg_restore"), options).decode()
    except ProgramFailed as error:
        raise BackupRefused(f"{path} is not a backup of this program: {error}.") from None
    rows = re.findall(r"^\d+\t(\w+)\t(\w+)\t", text, re.MULTILINE)
    if not any(app == "runs" for app, _ in rows):
        raise BackupRefused(f"{path} is the dump of another program: it has no runs in it.")
    return set(rows)


def check_version(path: Path) -> int:
    """How many migrations the backup is behind this program; `BackupRefused` when it is ahead."""
    known = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    ours = {app for app, _ in known}
    in_file = {one for one in migrations_in(path) if one[0] in ours}
    ahead = sorted(in_file - known)
    if ahead:
        raise BackupRefused(
            f"{path} was made by a newer version of this program (it has the migration"
            f" {'.'.join(ahead[-1])}): update first, then restore."
        )
    return len(known - in_file)


def restore(path: Path) -> None:
    """Replace everything in the database by the backup, all or nothing."""
    connection.close()
    with _as_sql(path) as script:
        try:
            run_program(find_program("psql"), ["--no-psqlrc", "--quiet"], source=script)
        except ProgramFailed as error:
            in_use = "lock timeout" in str(error)
            hint = " Stop web, worker and beat first." if in_use else ""
            raise BackupRefused(f"Nothing was changed: {error}.{hint}") from None


@contextmanager
def _as_sql(path: Path) -> Iterator[IO[bytes]]:
    """The backup as statements of one transaction, in a file without a name."""
    options = ("--no-owner", "--no-privileges", "--file=-", str(path))
    with tempfile.TemporaryFile() as whole, tempfile.TemporaryFile() as plain:
        try:
            run_program(find_program("pg_restore"), options, target=plain)
        except ProgramFailed as error:
            raise BackupRefused(f"{path} is damaged: {error}.") from None
        plain.seek(0)
        whole.write(BEGIN)
        whole.writelines(line for line in plain if not _DUMPED_SCHEMA.match(line))
        whole.write(b"COMMIT;\n")
        whole.seek(0)
        yield whole
