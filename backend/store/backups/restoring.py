"""A backup brought back, from one program into the next: no copy of it lies on the disk."""

import os
import re
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import QuerySet

from analysis.profiles.reference_profiles import initial_profile
from store.backups.moved import MISSING, PIECE, Rest
from store.backups.programs import BackupRefused, output_of, start_program, what_it_said
from store.models import ApiToken, AuditEntry, ImportedText, ReferenceProfile, Run, Share
from store.roles import ROLES
from store.statements import fetch_rows

READ_AHEAD = 1024 * 1024
"""Bytes: more than a pipe and pg_restore's own buffer hold of what comes after the dump."""

READ = ("--no-owner", "--no-privileges", "--schema=public", "--file=-")
"""Without the schema itself, which is made anew before; what it owns comes as SQL."""

WRITE = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--tuples-only", "--no-align")

BEGIN = b"""\\o /dev/null
BEGIN;
SET LOCAL lock_timeout = '10s';
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
"""

NOT_EVERYWHERE = re.compile(
    rb"SET transaction_timeout = 0;\n|ALTER TABLE ONLY \S+ ALTER COLUMN \S+ SET \(pg_attver=.*\);\n"
)
"""Lines before the rows that servers may refuse: pg_restore writes the setting for those before 17
too, and a pg_dump older than its server the marks that 15.20 and its like keep for themselves."""

TO_ANSWER = b"\\o\n"
WHICH_MIGRATIONS = b"SELECT app, name FROM public.django_migrations;\n"
END = b"SELECT 'end';\n"
"""Asked before COMMIT: a backup of a newer version, or without a document, changes nothing."""

MIGRATIONS = "django_migrations"

OTHERS = """
SELECT concat_ws(' ', coalesce(nullif(application_name, ''), 'a program'),
                 'of ' || usename, 'at ' || host(client_addr))
FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""

GOING = 3
"""Seconds until the connections of what has just been stopped are gone too."""

Migration = tuple[str, str]
"""App and name."""

Process = subprocess.Popen[bytes]


def what_was_brought() -> list[str]:
    """What this database holds beyond what a fresh start puts there, such as `runs`.

    A fresh start puts the published runs, the first reference profile and the roles there. Whatever
    else people and programs bring or change is in one of these tables; all changes are in the audit
    log.
    """
    tables = set(connection.introspection.table_names())
    if Run._meta.db_table not in tables:
        return ["tables of another program"] if tables else []
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
    there = [rows for rows in brought if rows.model._meta.db_table in tables and rows.exists()]
    return [str(rows.model._meta.verbose_name_plural) for rows in there]


def refuse_while_in_use() -> None:
    """`BackupRefused` while others are connected: a running site would mix its rows with these."""
    until = time.monotonic() + GOING
    while others := _others():
        if time.monotonic() > until:
            plural = "connections have" if len(others) > 1 else "connection has"
            raise BackupRefused(
                f"Nothing was changed: {len(others)} other {plural} this database open"
                f" ({', '.join(sorted(set(others)))}); stop every web server, worker and beat"
                " first, and whatever else uses it."
            )
        time.sleep(0.1)


def _others() -> list[str]:
    return [who for (who,) in fetch_rows(OTHERS, [])]


def restore(file: IO[bytes], name: str, database: str) -> int:
    """Replace everything in the database by the backup, all or nothing.

    How many migrations the backup is behind this program; `BackupRefused` when it is ahead.
    """
    source, feed = os.pipe()
    reading = start_program("pg_restore", READ, database, source)
    os.close(source)
    writing = start_program("psql", WRITE, database, subprocess.PIPE)
    with ThreadPoolExecutor(1) as threads, reading, writing:
        fed = threads.submit(_feed, file, feed)
        behind = 0
        try:
            with suppress(BrokenPipeError):  # psql has ended, and says below why
                behind = _replay(reading, writing, name, lambda: Rest(fed.result(), file))
        finally:
            _close(writing.stdin)
            _close(reading.stdout)
        if writing.wait() != 0:
            raise _nothing_changed(what_it_said(writing), name)
    return behind


def _feed(file: IO[bytes], feed: int) -> bytes:
    """Give pg_restore the backup until it has the whole dump; the end of what it was given."""
    last: deque[bytes] = deque(maxlen=READ_AHEAD // PIECE)
    with suppress(BrokenPipeError), os.fdopen(feed, "wb", buffering=0) as pipe:
        while piece := file.read(PIECE):
            last.append(piece)
            while piece:
                piece = piece[pipe.write(piece) :]
    return b"".join(last)


def _replay(reading: Process, writing: Process, name: str, rest: Callable[[], Rest]) -> int:
    """Without its COMMIT, which is the last word here, psql changes nothing."""
    sql, script = writing.stdin, output_of(reading)
    assert sql is not None  # noqa: S101 - as it was started
    sql.write(BEGIN)
    for line in script:
        if not NOT_EVERYWHERE.fullmatch(line):
            sql.write(line)
        if line.startswith(b"COPY "):  # from here on rows, as they are
            break
    shutil.copyfileobj(script, sql)
    if reading.wait() != 0:
        said = what_it_said(reading)
        raise BackupRefused(f"Nothing was changed: {name} is damaged, or no backup: {said}.")
    try:
        sql.writelines(rest().statements())
    except BackupRefused as reason:
        raise BackupRefused(f"Nothing was changed: {name} is damaged: {reason}.") from None
    sql.writelines((TO_ANSWER, WHICH_MIGRATIONS, MISSING, END))
    sql.flush()
    answers = _answers(output_of(writing))
    behind = _versions_behind(answers, name)
    if dict(answers).get("missing", "0") != "0":
        raise BackupRefused(f"Nothing was changed: {name} is damaged: documents are missing.")
    sql.write(b"COMMIT;\n")
    return behind


def _answers(answers: IO[bytes]) -> set[Migration]:
    """The migrations that psql names, and ("missing", NUMBER) of documents.

    Fewer when it fails meanwhile, which its end tells.
    """
    found = set()
    for line in answers:
        app, _, name = line.decode().strip().partition("|")
        if app == "end":
            break
        found.add((app, name))
    return found


def _versions_behind(in_file: set[Migration], name: str) -> int:
    known = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    ours = {app for app, _ in known}
    ahead = sorted(one for one in in_file - known if one[0] in ours)
    if ahead:
        raise BackupRefused(
            f"Nothing was changed: {name} was made by a newer version of this program (it has the"
            f" migration {'.'.join(ahead[-1])}). Update first, then restore."
        )
    return len(known - in_file)


def _nothing_changed(said: str, name: str) -> BackupRefused:
    if f'{MIGRATIONS}" does not exist' in said:
        return BackupRefused(f"Nothing was changed: {name} is the dump of another program.")
    hint = " Stop web, worker and beat first." if "lock timeout" in said else ""
    return BackupRefused(f"Nothing was changed: {said}.{hint}")


def _close(pipe: IO[bytes] | None) -> None:
    with suppress(BrokenPipeError):
        if pipe is not None:
            pipe.close()
