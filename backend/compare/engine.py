"""Maintain the analytics copy: all visible results, in an in-memory DuckDB per web process.

    with analytics() as db:
        rows = db("SELECT ... FROM result ...", {"tool": "ssh"})

A web process copies all results when it starts. Each `analytics()` block first reads the runs that
changed since the last block. The block then sees exactly the data that were committed before the
block began.

Triggers insert each changed run, with the transaction ID, into the table `runs_change`. A search
for transaction IDs above the highest ID in the copy would miss changes, because transactions do not
commit in the order of their IDs. Each copy therefore stores the PostgreSQL snapshot from which the
copy was read. A change is new if its transaction is not visible in this snapshot
(`pg_visible_in_snapshot`).
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

PATIENCE_SECONDS = 5.0  # a query waits this long for a copy that is being built

USABLE_SECONDS = 24 * 3600
"""Maximum time since the last update of a copy. An older copy is rebuilt, because entries of
`runs_change` may have been deleted."""

MOST_CHANGES = 20_000
"""Maximum number of changed runs in an update. For more runs, a rebuild of the copy is faster."""

RUNS_AT_ONCE = 1_000  # about 10 MB

PACK_AFTER = 5_000
"""Number of updated runs after which DuckDB compacts the copy. The deleted rows of these runs take
up to 30 MB. Compacting delays one query by 0.1 to 0.2 s."""

THREADS = 2  # the remaining cores serve uploads

Duck = duckdb.DuckDBPyConnection
Rows = list[tuple[Any, ...]]


@dataclass
class Session:
    """Execute SQL statements in the DuckDB dialect.

    `kept`: cache for the duration of the session, such as names of temporary tables.
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
"""SQL for the current snapshot, the identity of the database, and the changed runs.

The identity changes after a restore, which recreates `runs_change`. The identity also changes after
a failover, which begins a new WAL timeline and reuses the IDs of lost transactions.

The last condition excludes restored rows of `runs_change`, because their transaction IDs belong to
the database before the restore.
"""

ALL_RUNS = f"SELECT r.id FROM runs_run r WHERE {COUNTED} ORDER BY r.id"  # noqa: S608 - constants


@dataclass(frozen=True)
class Seen:
    snapshot: str
    database: str


def changes_since(cursor: CursorWrapper, seen: Seen | None) -> tuple[Seen, list[int] | None]:
    """Return the current snapshot, and the primary keys of the runs that changed since `seen`.

    Return None instead of the keys if any run may have changed.
    """
    cursor.execute(_CHANGES, {"seen": seen.snapshot if seen else None})
    snapshot, database, runs = cursor.fetchone()
    is_new = seen is None or seen.database != database
    return Seen(snapshot, database), None if is_new or None in runs else runs


@dataclass
class Copy:
    """Store a DuckDB database and the PostgreSQL snapshot `seen` that the database contains.

    `followed_at`: Unix time of the last update. `unpacked`: number of runs updated since the last
    compaction.
    """

    duck: Duck
    seen: Seen
    followed_at: float = field(default_factory=time.time)
    unpacked: int = 0

    def read_again(self, cursor: CursorWrapper, seen: Seen, runs: list[int]) -> None:
        self.duck.begin()
        try:
            for table in OF_RUNS:
                self.duck.execute(table.delete, [runs])
            _add_runs(self.duck, cursor, runs)
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
    duck = _empty_duck()
    seen = _fill(duck)
    # Cluster results by series, so that a query reads only its own series.
    duck.execute("CREATE TABLE sorted AS SELECT * FROM result ORDER BY series, run")
    duck.execute("DROP TABLE result")
    duck.execute("ALTER TABLE sorted RENAME TO result")
    duck.execute("CHECKPOINT")  # compresses to a quarter of the memory
    logger.info("built the analytics copy in %.1f s", time.monotonic() - begun)
    return Copy(duck, seen)


def _empty_duck() -> Duck:
    # Data beyond the memory limit spills to disk, which slows queries.
    spilled = f"{tempfile.gettempdir()}/ciphermark-analytics-{uuid4().hex}"
    memory = settings.CIPHERMARK_ANALYTICS_MEMORY
    duck = duckdb.connect(
        config={"threads": THREADS, "memory_limit": memory, "temp_directory": spilled}
    )
    for table in (*OF_RUNS, *SHARED):
        duck.execute(table.create)
    # Queries must not read files or load extensions.
    duck.execute("SET enable_external_access = false")
    duck.execute("SET lock_configuration = true")
    return duck


_scratch = cache(_empty_duck)


def _fill(duck: Duck) -> Seen:
    with Run.objects.snapshot(), connection.cursor() as cursor:
        seen, _ = changes_since(cursor, None)
        cursor.execute(ALL_RUNS)
        _add_runs(duck, cursor, [run for (run,) in cursor.fetchall()])
    return seen


def _add_runs(duck: Duck, cursor: CursorWrapper, runs: list[int]) -> None:
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
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.reading: Future[Copy] | None = None

    def prepare(self) -> "Future[Copy]":
        with self.lock:
            if self.reading is None or (self.reading.done() and self.reading.exception()):
                self.reading = _in_background(read_all)
            return self.reading

    def forget(self) -> None:
        with self.lock:
            self.reading = None

    @contextmanager
    def analytics(self) -> Iterator[Session]:
        """Open a session; raise `AnalyticsUnavailable` if the copy is not ready or DuckDB fails."""
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
        if _has_uncommitted_changes():  # uncommitted data must not reach the shared copy
            own = _cursor_in_transaction(_scratch())
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
                    return _cursor_in_transaction(copy.duck)

    def _follow(self, copy: Copy) -> bool:
        """Update the copy, and return True.

        If the copy must be rebuilt instead, discard the copy and return False.
        """
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


def _cursor_in_transaction(duck: Duck) -> Duck:
    cursor = duck.cursor()
    cursor.begin()
    cursor.execute("SELECT 1 FROM run LIMIT 0")  # the first statement begins the transaction
    return cursor


def _has_uncommitted_changes() -> bool:
    if not connection.in_atomic_block:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
        return bool(cursor.fetchone()[0])


def _in_background(read: Callable[[], Copy]) -> "Future[Copy]":
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
    if not settings.CIPHERMARK_ANALYTICS_URL:
        ENGINE.prepare()


_current: ContextVar[Session | None] = ContextVar("_current", default=None)


@contextmanager
def analytics() -> Iterator[Session]:
    """Open a session, or yield the session of an outer `analytics()` block."""
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
