"""Copies on disk as Parquet files, from which processes start in a second.

A snapshot is a folder with one file for each table and the state that it was read in. It gets its
name when it is complete. One that is damaged, of another database or of another version of the
program is passed over: the copy is then read from PostgreSQL.
"""

import hashlib
import json
import logging
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import duckdb
from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

from results.analytics.copy import Duck, empty_copy, sort_results
from results.analytics.shared_snapshots import SNAPSHOT, STATE, fetch, publish
from results.analytics.tables import TABLES
from results.analytics.unseen_changes import State

logger = logging.getLogger(__name__)

VERSION = 4
"""Counted up with every change of what the tables of the copy hold."""

KEPT = 2
"""Snapshots: a process may be reading the one before the newest."""

USABLE_SECONDS = 24 * 3600
"""Longer than that the changes since may have been forgotten (`unseen_changes`)."""

NEWEST = "analytics-snapshot"
"""Key of the cache: the state of the newest one, and when it was written."""

LEFT_SECONDS = 3600
"""During an update a process of the version before may still start, from its own snapshot."""


def write_snapshot(duck: Duck, state: State) -> Path:
    """Write the copy to a new folder; remove older ones, and what a killed process began."""
    folder = settings.ANALYTICS_DIR
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{VERSION}-{time.time_ns()}"
    part = Path(tempfile.mkdtemp(prefix="part-", dir=folder))
    try:
        sort_results(duck)
        for table in TABLES:
            rows = f'SELECT {table.names} FROM "{table.name}"'  # noqa: S608 - constants
            duck.execute(f"COPY ({rows}) TO '{_file(part, table.name)}' (FORMAT parquet)")
        hashes = {table.name: _hash(part, table.name) for table in TABLES}
        facts = {**asdict(state), "made_at": time.time(), "hashes": hashes}
        (part / STATE).write_text(json.dumps(facts))
        part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    _remove_old()
    return path


def share_newest(state: State) -> bool:
    """Bring the newest one of this machine, of that state, to where others find it.

    False where the object storage, in which machines share them, did not take it.
    """
    path = next(_snapshots(), None)
    if path is None:
        return True
    shared = publish(path, LEFT_SECONDS)
    # For whoever watches the site: the machine that is asked may have another one in its folder.
    with suppress(RedisError):
        cache.set(NEWEST, (state.epoch, state.snapshot, _written_at(path)), timeout=None)
    return shared


def _written_at(path: Path) -> float:
    return int(path.name.partition("-")[2]) / 1e9


def fetch_snapshot() -> None:
    """Have this machine's folder hold the newest one that machines share, if they share any."""
    _remove_old()  # first: one whose fetching is killed leaves a part each time
    newest_here = next(_snapshots(), None)
    fetch(settings.ANALYTICS_DIR, VERSION, newest_here.name if newest_here else "")
    _remove_old()


def _remove_old() -> None:
    for old in [*list(_snapshots())[KEPT:], *_left_behind()]:
        shutil.rmtree(old, ignore_errors=True)


def _left_behind() -> list[Path]:
    """What nobody writes or reads any more: of killed processes, of other versions."""
    parts = settings.ANALYTICS_DIR.glob("part-*")
    others = (one for one in _named() if not one.name.startswith(f"{VERSION}-"))
    return [one for one in (*parts, *others) if time.time() - _made_at(one) > LEFT_SECONDS]


def _made_at(folder: Path) -> float:
    """When it was last written to; now, when somebody has just removed or renamed it."""
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def read_snapshot(epoch: str) -> tuple[Duck, State] | None:
    """A copy filled from the newest snapshot of this database; None where there is none."""
    for path in _snapshots():
        try:
            facts = json.loads((path / STATE).read_text())
            state = State(facts["epoch"], facts["snapshot"])
            if state.epoch != epoch or time.time() - facts["made_at"] > USABLE_SECONDS:
                continue
            for name, expected in facts["hashes"].items():
                if _hash(path, name) != expected:
                    raise ValueError(f"{name} is not what was written")
            return _read(path), state
        except (OSError, ValueError, KeyError, duckdb.Error) as error:
            logger.warning("the analytics snapshot %s cannot be read: %s", path.name, error)
    return None


def newest() -> tuple[State, float] | None:
    """The state of the snapshot that was written last, and its age in seconds."""
    found = cache.get(NEWEST)
    return (State(*found[:2]), time.time() - found[2]) if found else None


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


def _hash(folder: Path, table: str) -> str:
    """Parquet notices a file that is cut, not one whose bits have turned over."""
    with (folder / f"{table}.parquet").open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _snapshots() -> Iterator[Path]:
    """Those of this version, the newest first."""
    found = (path for path in _named() if path.name.startswith(f"{VERSION}-"))
    yield from sorted(found, key=lambda path: path.name, reverse=True)


def _named() -> list[Path]:
    """Snapshots of any version. What is called otherwise is not ours."""
    return [one for one in settings.ANALYTICS_DIR.glob("*-*") if SNAPSHOT.fullmatch(one.name)]


def _file(folder: Path, table: str) -> str:
    """Where a table is, as a text of SQL."""
    return str(folder / f"{table}.parquet").replace("'", "''")
