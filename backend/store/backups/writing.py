"""Backups written, and old ones removed."""

import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from django.db import connection

from store.backups.manifest import LEFT_OUT, manifest_of
from store.backups.moved import refuse_without_moved, write_moved
from store.backups.programs import BackupRefused, output_of, start_program, what_it_said
from store.replica import (
    BACKGROUND_SECONDS,
    REPLICA,
    ReplicaFailed,
    again_on_primary,
    reading_replica,
)
from store.statements import one_moment

DUMP = (
    "--format=custom",
    "--no-owner",
    "--no-privileges",
    f"--exclude-table-data={LEFT_OUT}",
)

_OWN_NAME = re.compile(r"ciphermark-\d{8}T\d{6}Z\.dump")


def new_path(folder: Path) -> Path:
    """The name that a backup made now has in a folder; names sort as dates do."""
    return folder / f"ciphermark-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.dump"


def backups_in(folder: Path) -> list[Path]:
    """Those named by us, the oldest first; other files of the folder are somebody else's."""
    return sorted(path for path in folder.iterdir() if _OWN_NAME.fullmatch(path.name))


def remove_old(folder: Path, keep: int) -> list[Path]:
    """Remove all backups of a folder but the latest `keep` (at least 1), and say which."""
    old = backups_in(folder)[:-keep]
    for path in old:
        path.unlink()
    return old


def write_backup(path: Path) -> int:
    """Write the database to a new file, readable by its owner alone; its size in bytes.

    The file appears under its name only when it is whole and on the disk.
    """
    if path.exists():
        raise BackupRefused(f"{path} exists already; a backup is never written over another.")
    part = path.with_name(f"{path.name}.part")
    try:
        again_on_primary(lambda: _write_part(part))
        part.rename(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise BackupRefused(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)
    return path.stat().st_size


def _write_part(part: Path) -> None:
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        backup_to(stream)
        os.fsync(descriptor)


def backup_to(stream: IO[bytes]) -> None:
    """The database as one moment saw it, and behind it what is in it.

    Raises `ReplicaFailed` where it is read from a standby that fails.
    """
    with reading_replica(BACKGROUND_SECONDS), one_moment():
        refuse_without_moved()
        manifest = manifest_of(connection, datetime.now(UTC).isoformat(timespec="seconds"))
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_export_snapshot()")
            (snapshot,) = cursor.fetchone()
        _dump(snapshot, stream)
        write_moved(stream)
    stream.write(manifest.as_line())
    stream.flush()


def _dump(snapshot: str, stream: IO[bytes]) -> None:
    """Through a pipe: to a file, pg_dump would write its list of tables twice."""
    name = connection.settings_dict["NAME"]
    with start_program("pg_dump", [*DUMP, f"--snapshot={snapshot}"], name) as dump:
        try:
            shutil.copyfileobj(output_of(dump), stream)
        except BaseException:
            dump.terminate()  # one that waits for a lock would not notice
            raise
        if dump.wait() != 0:
            said = f"There is no backup: {what_it_said(dump)}."
            raise ReplicaFailed(said) if connection.alias == REPLICA else BackupRefused(said)


def _sync_folder(folder: Path) -> None:
    """Make the new name as lasting as the bytes, before an older backup goes."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
