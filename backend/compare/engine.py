"""Maintain the analytics copy: an in-memory DuckDB in each web process.

    with analytics() as db:
        rows = db("SELECT ... FROM result ...", {"tool": "ssh"})

A process reads all visible results from PostgreSQL when it starts. Before each block of queries it
rereads the runs that changed since. A block sees all changes committed before it began, and no
others.

Triggers record each changed run with its transaction in `runs_change`. Transactions do not commit
in the order of their numbers or times, so the highest number seen does not identify new changes.
The copy therefore remembers the snapshot it was read in. Changes that this snapshot could not see
(`pg_visible_in_snapshot`) are new.
"""

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import uuid4

import duckdb
from django.conf import settings
from django.db import connection, connections
from django.db.backends.utils import CursorWrapper

from compare.copy_tables import OF_RUNS, SHARED, Table
from core.outage import AnalyticsUnavailable
from runs.models import Run
from runs.models.run import COUNTED

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0
"""Maximum time that a query waits for a copy that is being built."""

USABLE_SECONDS = 24 * 3600
"""Maximum age of a copy. An older copy is rebuilt, because later changes may be deleted from the
log."""

MOST_CHANGES = 20_000
"""Number of changed runs at which a complete rebuild is as fast as an update."""

RUNS_AT_ONCE = 1_000
"""Number of runs transferred in one statement, about 10 MB."""

PACK_AFTER = 5_000
"""Number of reread runs after which the copy is compacted. Their old rows take up to 30 MB;
compacting delays one query by 0.1 to 0.2 s."""

THREADS = 2
"""Number of threads per query. The other cores serve uploads."""

Duck = duckdb.DuckDBPyConnection
Rows = list[tuple[Any, ...]]


@dataclass
class Session:
    """Execute statements in DuckDB's SQL.

    The queries of a block share the `kept` cache.
    """

    execute: Callable[[str, Mapping[str, Any]], Rows]
    kept: dict[str, Any] = field(default_factory=dict)

    def __call__(self, statement: str, parameters: Mapping[str, Any]) -> Rows:
        return self.execute(statement, parameters)


_CHANGES = """
SELECT pg_current_snapshot()::text, (
    SELECT concat_ws('-', system_identifier, d.oid, 'runs_change'::regclass::oid,
        substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))
    FROM pg_control_system(), pg_database d WHERE d.datname = current_database()
), ARRAY(
    SELECT DISTINCT run_id FROM runs_change
    WHERE transaction_id >= pg_snapshot_xmin(%(seen)s::pg_snapshot)
        AND NOT pg_visible_in_snapshot(transaction_id, %(seen)s::pg_snapshot)
        AND pg_visible_in_snapshot(transaction_id, pg_current_snapshot())
)
"""
"""The database identity changes after a restore, which recreates the table, and after a failover,
which begins a new timeline and reuses the numbers of lost transactions. The last condition excludes
restored rows, whose transaction numbers belong to the previous database."""

ALL_RUNS = f"SELECT r.id FROM runs_run r WHERE {COUNTED} ORDER BY r.id"  # noqa: S608 - constants


@dataclass(frozen=True)
class Seen:
    """Identify the database snapshot of a copy."""

    snapshot: str
    database: str


def changes_since(cursor: CursorWrapper, seen: Seen | None) -> tuple[Seen, list[int] | None]:
    """Return the current snapshot and the runs changed since, or None if all may have changed."""
    cursor.execute(_CHANGES, {"seen": seen.snapshot if seen else None})
    snapshot, database, runs = cursor.fetchone()
    is_new = seen is None or seen.database != database
    return Seen(snapshot, database), None if is_new or None in runs else runs


@dataclass
class Copy:
    """Represent a copy, the snapshot it contains, and the time of its last update (Unix time).

    `unpacked`: number of runs reread since the copy was last compacted.
    """

    duck: Duck
    seen: Seen
    followed_at: float = field(default_factory=time.time)
    unpacked: int = 0

    def read_again(self, cursor: CursorWrapper, seen: Seen, runs: list[int]) -> None:
        """Reread these runs, including deleted ones, in one transaction."""
        self.duck.begin()
        try:
            for table in OF_RUNS:
                self.duck.execute(table.delete, [runs])
            _read(self.duck, cursor, runs)
            self.duck.commit()
        except BaseException:
            with suppress(duckdb.Error):
                self.duck.rollback()
            raise
        self.seen = seen
        self.unpacked += len(runs)
        if self.unpacked > PACK_AFTER:
            self.duck.execute("CHECKPOINT")
            self.unpacked = 0


def read_all() -> Copy:
    begun = time.monotonic()
    duck = _empty()
    seen = _fill(duck)
    # Cluster results by series, so that a query reads only its own series.
    duck.execute("CREATE TABLE sorted AS SELECT * FROM result ORDER BY series, run")
    duck.execute("DROP TABLE result")
    duck.execute("ALTER TABLE sorted RENAME TO result")
    duck.execute("CHECKPOINT")  # compresses to a quarter of the memory
    logger.info("built the analytics copy in %.1f s", time.monotonic() - begun)
    return Copy(duck, seen)


def _empty() -> Duck:
    """Create an in-memory database without access to files and extensions."""
    # Data beyond the memory limit spills to disk, which slows queries.
    spilled = f"{tempfile.gettempdir()}/ciphermark-analytics-{uuid4().hex}"
    memory = settings.CIPHERMARK_ANALYTICS_MEMORY
    duck = duckdb.connect(
        config={"threads": THREADS, "memory_limit": memory, "temp_directory": spilled}
    )
    for table in (*OF_RUNS, *SHARED):
        duck.execute(table.create)
    duck.execute("SET enable_external_access = false")
    duck.execute("SET lock_configuration = true")
    return duck


_scratch = cache(_empty)


def _fill(duck: Duck) -> Seen:
    with Run.objects.snapshot(), connection.cursor() as cursor:
        seen, _ = changes_since(cursor, None)
        cursor.execute(ALL_RUNS)
        _read(duck, cursor, [run for (run,) in cursor.fetchall()])
    return seen


def _read(duck: Duck, cursor: CursorWrapper, runs: list[int]) -> None:
    """Add the rows of these runs, and new shared rows."""
    for first in range(0, len(runs), RUNS_AT_ONCE):
        for table in OF_RUNS:
            _insert(duck, cursor, table, runs[first : first + RUNS_AT_ONCE])
        for table in SHARED:
            if missing := duck.execute(table.missing).fetchall():
                _insert(duck, cursor, table, [key for (key,) in missing])


def _insert(duck: Duck, cursor: CursorWrapper, table: Table, keys: list[int]) -> None:
    cursor.execute(table.select, [keys])
    duck.execute(table.insert, cursor.fetchone())


class Engine:
    """Manage this process's copy, built in the background so that requests can time out."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.reading: Future[Copy] | None = None

    def prepare(self) -> "Future[Copy]":
        """Start building the copy unless it exists or is being built."""
        with self.lock:
            if self.reading is None or (self.reading.done() and self.reading.exception()):
                self.reading = _in_background(read_all)
            return self.reading

    def forget(self) -> None:
        """Discard the copy; the next query rebuilds it."""
        with self.lock:
            self.reading = None

    @contextmanager
    def analytics(self) -> Iterator[Session]:
        """Open a block of queries; raise `AnalyticsUnavailable` during a build or on failure."""
        try:
            with closing(self._cursor()) as duck:
                yield Session(lambda sql, given: duck.execute(sql, dict(given)).fetchall())
        except duckdb.OutOfMemoryException as error:
            logger.warning("a query exceeds CIPHERMARK_ANALYTICS_MEMORY: %s", error)
            words = "This query needs more memory than CIPHERMARK_ANALYTICS_MEMORY allows"
            raise AnalyticsUnavailable(words) from None
        except (duckdb.FatalException, duckdb.InternalException) as error:
            logger.exception("the analytics copy failed; rebuilding it")
            self.forget()
            raise AnalyticsUnavailable("The results are being prepared") from error

    def _cursor(self) -> Duck:
        """Begin a transaction on the data that PostgreSQL has committed."""
        if _has_written():  # uncommitted data must not reach the shared copy
            own = _begun(_scratch())
            _fill(own)
            return own  # it is never committed
        while True:
            reading = self.prepare()
            try:
                copy = reading.result(PATIENCE_SECONDS)
            except TimeoutError:
                raise AnalyticsUnavailable("The results are being prepared") from None
            with self.lock:
                if reading is self.reading and self._follow(copy):
                    return _begun(copy.duck)

    def _follow(self, copy: Copy) -> bool:
        """Update the copy; discard it and return False if it must be rebuilt."""
        now = time.time()
        is_old = now - copy.followed_at > USABLE_SECONDS
        with connection.cursor() as cursor:
            has_changed = changes_since(cursor, copy.seen)[1] != []
        if has_changed or is_old:
            with Run.objects.snapshot(), connection.cursor() as cursor:
                seen, runs = changes_since(cursor, copy.seen)
                if is_old or runs is None or len(runs) > MOST_CHANGES:
                    self.forget()
                    return False
                try:
                    copy.read_again(cursor, seen, runs)
                except duckdb.OutOfMemoryException:
                    self.forget()  # rebuild, because the next update would also fail
                    raise
        copy.followed_at = now
        return True


def _begun(duck: Duck) -> Duck:
    """Return a cursor in a new transaction."""
    cursor = duck.cursor()
    cursor.begin()
    cursor.execute("SELECT 1 FROM run LIMIT 0")  # the first statement begins the transaction
    return cursor


def _has_written() -> bool:
    """Return whether the caller's transaction has changes that others cannot see."""
    if not connection.in_atomic_block:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
        return bool(cursor.fetchone()[0])


def _in_background(read: Callable[[], Copy]) -> "Future[Copy]":
    """Call a function in a thread with its own database connections."""
    future: Future[Copy] = Future()

    def run() -> None:
        try:
            future.set_result(read())
        except BaseException as error:  # noqa: BLE001 - the waiting thread gets it
            future.set_exception(error)
        finally:
            connections.close_all()

    threading.Thread(target=run, name="analytics", daemon=True).start()
    return future


ENGINE = Engine()


def prepare() -> None:
    """Start building the copy of this process."""
    if not settings.CIPHERMARK_ANALYTICS_URL:
        ENGINE.prepare()


_current: ContextVar[Session | None] = ContextVar("_current", default=None)


@contextmanager
def analytics() -> Iterator[Session]:
    """Open a session of queries; a nested session is part of the outer one."""
    if outer := _current.get():
        yield outer
        return
    if settings.CIPHERMARK_ANALYTICS_URL:
        from compare.clickhouse import analytics as of_this_site  # imported only if configured
    else:
        of_this_site = ENGINE.analytics
    with of_this_site() as db:
        token = _current.set(db)
        try:
            yield db
        finally:
            _current.reset(token)
