"""Copies on disk as Parquet files, from which processes start in a second.

A snapshot is a folder with one file for each table and the state that it was read in. It gets its
name when it is complete. One that is damaged, of another database or of another version of the
program is passed over: the copy is then read from PostgreSQL.
"""

import json
import logging
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import duckdb
from django.conf import settings

from runs.analytics.changes import State
from runs.analytics.copy import Duck, empty_copy, sort_results
from runs.analytics.tables import TABLES

logger = logging.getLogger(__name__)

VERSION = 1
"""Counted up with every change of what the tables of the copy hold."""

KEPT = 2
"""Snapshots: a process may be reading the one before the newest."""

USABLE_SECONDS = 24 * 3600
"""Longer than that the changes since may have been forgotten (`changes.forget_old_changes`)."""

_STATE = "state.json"


def write_snapshot(duck: Duck, state: State) -> Path:
    """Write the copy to a new folder, and remove older ones."""
    folder = settings.ANALYTICS_DIR
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{VERSION}-{time.time_ns()}"
    part = Path(tempfile.mkdtemp(prefix="part-", dir=folder))
    try:
        sort_results(duck)
        for table in TABLES:
            rows = f'SELECT {table.names} FROM "{table.name}"'  # noqa: S608 - constants
            duck.execute(f"COPY ({rows}) TO '{_file(part, table.name)}' (FORMAT parquet)")
        facts = {**asdict(state), "made_at": time.time()}
        (part / _STATE).write_text(json.dumps(facts))
        part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    for old in list(_snapshots())[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return path


def read_snapshot(epoch: str) -> tuple[Duck, State] | None:
    """A copy filled from the newest snapshot of this database; None where there is none."""
    for path in _snapshots():
        try:
            facts = json.loads((path / _STATE).read_text())
            state = State(facts["epoch"], facts["snapshot"])
            if state.epoch != epoch or time.time() - facts["made_at"] > USABLE_SECONDS:
                continue
            return _read(path), state
        except (OSError, ValueError, KeyError, duckdb.Error) as error:
            logger.warning("the analytics snapshot %s cannot be read: %s", path.name, error)
    return None


def _read(path: Path) -> Duck:
    duck = empty_copy(settings.CIPHERMARK_ANALYTICS_MEMORY)
    try:
        for table in TABLES:
            rows = f"SELECT {table.names} FROM read_parquet('{_file(path, table.name)}')"  # noqa: S608
            duck.execute(table.insert_from(rows))
    except BaseException:
        duck.close()
        raise
    return duck


def _snapshots() -> Iterator[Path]:
    """Those of this version, the newest first."""
    found = settings.ANALYTICS_DIR.glob(f"{VERSION}-*")
    yield from sorted(found, key=lambda path: path.name, reverse=True)


def _file(folder: Path, table: str) -> str:
    """Where a table is, as a text of SQL."""
    return str(folder / f"{table}.parquet").replace("'", "''")
