"""The streaming standby that `DATABASE_REPLICA_URL` names: it takes reading off the primary.

    with reading_replica(PAGE_SECONDS):
        hosts = list(Host.objects.all())  # from the standby

What is read there is never older than the primary: a block begins with the primary's position in
its log, and waits until the standby has replayed that. A standby that has not done so in time, is
away, or is none of this primary (promoted, another server, another database) is not read; the
primary is. So everybody reads what they wrote, without sessions or cookies.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import wraps
from math import inf
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Connection
from psycopg import Error as DriverError

from store.outage import UNREACHABLE

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

REPLICA = "replica"
"""Alias of its connection."""

PAGE_SECONDS = 0.3
"""How long a page waits for a standby to catch up; usually it has within a millisecond or two."""

BACKGROUND_SECONDS = 5.0
"""How long files, backups and copies wait for that."""

LEFT_ALONE_SECONDS = 10.0
"""How long a process goes on by the primary before it looks at a standby again."""

LOOK_SECONDS = 2.0
"""The longest that a look may take: a server that hangs takes a question and never answers."""

LONGEST_PAUSE_SECONDS = 0.02
"""Between two looks at what a standby has replayed."""

_POSITION = """
SELECT pg_current_wal_insert_lsn()::text,
    concat_ws('-', system_identifier, d.oid),
    ('x' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))::bit(32)::int
FROM pg_control_system(), pg_database d
WHERE d.datname = current_database() AND NOT pg_is_in_recovery()
"""
"""Log position before which everything is that anybody can see, database, timeline.

Not the position that has been flushed: the worker's commits are seen before they are.
"""

_FLUSH = """
SELECT set_config('synchronous_commit', 'local', true),
    pg_logical_emit_message(true, 'ciphermark', '')
"""
"""A commit that writes nothing but itself, and so has the log flushed and sent to the standby.

PostgreSQL would do that by itself within 0.2 to 0.6 s.
"""

_STANDBY = """
SELECT pg_is_in_recovery(),
    (
        SELECT concat_ws('-', system_identifier, d.oid)
        FROM pg_control_system(), pg_database d WHERE d.datname = current_database()
    ),
    greatest(
        (SELECT timeline_id FROM pg_control_checkpoint()),
        (SELECT min_recovery_end_timeline FROM pg_control_recovery()),
        (SELECT received_tli FROM pg_stat_wal_receiver)
    ),
    replayed.everything,
    CASE WHEN replayed.everything THEN 0 ELSE extract(
        epoch FROM clock_timestamp()
            - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time())
    ) END::float8,
    current_setting('hot_standby_feedback') = 'on'
FROM (
    SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn AS everything
) replayed
"""
"""Of a standby: whether it is one, its database and timeline, whether it is at a position, lag.

The timeline is the latest that it is known to be on: after a failover its last checkpoint is still
of the one before.
"""


class ReplicaFailed(OperationalError):
    """The standby failed in the middle of reading, or cancelled it: the primary can be asked."""


@dataclass(frozen=True)
class _Position:
    """Where the primary is in its log."""

    lsn: str
    database: str
    timeline: int


@dataclass(frozen=True)
class ReplicaState:
    """What a look at the standby found. `fault`: why it is not read, empty where it is.

    `lag_seconds`: age of what it shows, 0 where that is everything.
    """

    fault: str
    lag_seconds: float = 0.0
    is_at_position: bool = False
    has_feedback: bool = False


@dataclass(frozen=True)
class _LeftAlone:
    """A standby that is not looked at until then, by those who would wait no longer than so."""

    until: float
    waited: float
    why: str


class _Memory:
    """What this process knows of the standby: a dead one must not cost each page a time-out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left_alone: _LeftAlone | None = None

    def bars(self, patience: float) -> str:
        """Why it is left alone; empty for whoever may look: after a while one thread does."""
        with self._lock:
            known = self._left_alone
            if known is None:
                return ""
            if time.monotonic() < known.until:
                return known.why if patience <= known.waited else ""
            self._left_alone = replace(known, until=_later())
            return ""

    def leave_alone(self, why: str, waited: float = inf) -> None:
        """It is not read for a while: by nobody, or by those alone who would wait no longer."""
        with self._lock:
            known, self._left_alone = self._left_alone, _LeftAlone(_later(), waited, why)
        if known is None or known.why != why:
            logger.warning("the primary is read instead of the replica: %s", why)

    def is_well(self, *, is_at_position: bool) -> None:
        """It answers, and shows everything or not."""
        with self._lock:
            known = self._left_alone
            if known is None or not (is_at_position or known.waited == inf):
                return
            self._left_alone = None
        logger.info("the replica is read again")


def _later() -> float:
    return time.monotonic() + LEFT_ALONE_SECONDS


_memory = _Memory()


class _Thread(threading.local):
    """Of each thread: whether it is in a block of reading, and whether the primary alone may be."""

    is_reading = False
    primary_alone = False


_thread = _Thread()


def has_replica() -> bool:
    """Whether the settings name one."""
    return REPLICA in settings.DATABASES


@contextmanager
def reading_replica(patience: float) -> Iterator[None]:
    """In this block the standby stands in for the database: ORM, statements and transactions.

    It can take no writes. `ReplicaFailed` where it fails in the middle, see `by_replica`. Within a
    transaction, or another such block, nothing changes.
    """
    if _thread.is_reading:
        yield
        return
    with reader(patience) as database:
        primary = connections[DEFAULT_DB_ALIAS]
        connections[DEFAULT_DB_ALIAS], _thread.is_reading = database, True
        try:
            yield
        finally:
            connections[DEFAULT_DB_ALIAS], _thread.is_reading = primary, False


@contextmanager
def reader(patience: float) -> Iterator[BaseDatabaseWrapper]:
    """The connection to read by, where a block would be wrong: in a generator, between whose steps
    the thread does other things.
    """
    standby = None if _thread.is_reading else _caught_up(patience)
    if standby is None:
        yield connections[DEFAULT_DB_ALIAS]
        return
    try:
        yield standby
    except UNREACHABLE as error:
        why = _first_line(error)
        standby.close()
        _memory.leave_alone(why)
        raise ReplicaFailed(f"The replica failed: {why}") from error


def by_replica(patience: float) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """For a function that only reads: by the standby, or anew by the primary where that fails."""

    def decorate(read: Callable[P, T]) -> Callable[P, T]:
        @wraps(read)
        def reading(*args: P.args, **kwargs: P.kwargs) -> T:
            def once() -> T:
                with reading_replica(patience):
                    return read(*args, **kwargs)

            return again_on_primary(once)

        return reading

    return decorate


def again_on_primary(read: Callable[[], T]) -> T:
    """What `read` gives; where the standby fails in the middle, once more by the primary alone."""
    try:
        return read()
    except ReplicaFailed as failure:
        logger.warning("read again from the primary. %s", failure)
    _thread.primary_alone = True
    try:
        return read()
    finally:
        _thread.primary_alone = False


def refuse_in_a_block(what: str) -> None:
    """For what looks at the primary and may find more than a standby has that was waited for."""
    if _thread.is_reading:
        raise RuntimeError(f"{what} belongs before the block that reads the replica")


def replica_state(patience: float = 0.0) -> ReplicaState:
    """The standby once it has all that is committed by now, or after so long as it is then.

    While nobody may look: why.
    """
    barred = _memory.bars(inf)
    if barred:
        return ReplicaState(barred)
    position = _position()
    if position is None:
        return ReplicaState("the server of DATABASE_URL is a standby itself")
    return _wait(position, patience)


def _wait(position: _Position, patience: float) -> ReplicaState:
    state, deadline, pause = _look(position), time.monotonic() + patience, 0.0
    while not (state.is_at_position or state.fault) and time.monotonic() < deadline:
        if not pause:
            _flush()
        time.sleep(pause)
        pause = min(2 * pause or 0.001, LONGEST_PAUSE_SECONDS)
        state = _look(position)
    return state


def _caught_up(patience: float) -> BaseDatabaseWrapper | None:
    """The standby, once it has all that is committed by now; None: read the primary."""
    if not has_replica() or _thread.primary_alone or connections[DEFAULT_DB_ALIAS].in_atomic_block:
        return None
    if _memory.bars(patience):
        return None
    position = _position()
    if position is None:
        return None
    state = _wait(position, patience)
    if state.fault:
        return None
    if not state.is_at_position:
        _memory.leave_alone(f"it is more than {patience:g} s behind", patience)
        return None
    return connections[REPLICA]


def _position() -> _Position | None:
    """Of the primary; None while it is none."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_POSITION)
        row = cursor.fetchone()
    return _Position(*row) if row else None


def _flush() -> None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_FLUSH)


def _look(position: _Position) -> ReplicaState:
    standby = connections[REPLICA]
    try:
        with _answers_soon(standby), standby.cursor() as cursor:
            cursor.execute(_STANDBY, [position.lsn])
            is_standby, database, timeline, is_at_position, lag, has_feedback = cursor.fetchone()
    except Error as error:
        standby.close()
        fault = f"it cannot be reached: {_first_line(error)}"
    else:
        fault = _fault(position, is_standby, database, timeline)
        if not fault:
            _memory.is_well(is_at_position=is_at_position)
            return ReplicaState("", lag, is_at_position, has_feedback)
    _memory.leave_alone(fault)
    return ReplicaState(fault)


@contextmanager
def _answers_soon(standby: BaseDatabaseWrapper) -> Iterator[None]:
    """Cut a connection that says nothing; one that is being made has a time-out of its own."""
    if standby.connection is None:
        yield
        return
    cut = threading.Timer(LOOK_SECONDS, _cut, [standby.connection])
    cut.start()
    try:
        yield
    finally:
        cut.cancel()


def _cut(connection: Connection[Any]) -> None:
    with (
        suppress(OSError, DriverError),
        socket.socket(fileno=os.dup(connection.fileno())) as shared,
    ):
        shared.shutdown(socket.SHUT_RDWR)


def _fault(position: _Position, is_standby: bool, database: str, timeline: int) -> str:
    if not is_standby:
        return "it is no standby: it was promoted, or never was one"
    if database != position.database:
        return "it is a standby of another server, or another database"
    if timeline != position.timeline:
        return f"it follows timeline {timeline}, and the primary is on {position.timeline}"
    return ""


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
