"""This process's copy, brought up to date before each question; its memory kept small.

    with questions() as ask:
        rows = ask("SELECT ... FROM result ...", {"tool": "ssh"})

All that is asked inside one block is answered from one state of the data: every change that was
committed before the block began, and none that was not.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import duckdb
from django.conf import settings
from django.db import connection, connections

from results.analytics.ask import Ask
from results.analytics.copy import (
    Duck,
    apply,
    copy_of_all,
    filled_copy,
    is_too_much,
    lock_down,
    one_step,
    pack,
)
from results.analytics.unseen_changes import (
    USABLE_SECONDS,
    State,
    changes_since,
    present_state,
)
from store.outage import AnalyticsUnavailable
from store.statements import one_moment

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0
"""How long a question waits for a copy that is being built."""

PACK_AFTER = 5_000
"""Runs that came, changed or went: their rows that are gone take up to 30 MB until then, and giving
that back takes 0.1 to 0.2 s of the question that meets it."""


@dataclass
class Copy:
    """A filled copy, the state of PostgreSQL that it was read in, and when it was last followed.

    `unpacked`: runs that were followed since rows that are gone were given back.
    """

    duck: Duck
    state: State
    followed_at: float = field(default_factory=time.time)
    unpacked: int = 0


@dataclass
class Engine:
    """The copy of one process. `lock` is held while it is changed or looked up."""

    process: int = field(default_factory=os.getpid)
    lock: threading.RLock = field(default_factory=threading.RLock)
    copy: Copy | None = None
    building: "Future[Copy] | None" = None

    @contextmanager
    def questions(self) -> Iterator[Ask]:
        """See the module. `AnalyticsUnavailable` while the copy is built, or when it fails."""
        try:
            # A transaction may see, or have made, what others must not: nothing of it is kept.
            if connection.in_atomic_block:
                with self._followed_in_passing() as duck:
                    yield _ask(duck)
            else:
                with self._reader() as duck:
                    yield _ask(duck)
        except duckdb.OutOfMemoryException as error:
            logger.warning("a question needs more than CIPHERMARK_ANALYTICS_MEMORY: %s", error)
            words = "This question needs more memory than CIPHERMARK_ANALYTICS_MEMORY allows"
            raise AnalyticsUnavailable(words) from None
        except (duckdb.FatalException, duckdb.InternalException) as error:
            logger.exception("the analytics copy failed and is built again")
            self.forget()
            raise AnalyticsUnavailable("The analytics copy is being built again") from error

    def prepare(self) -> None:
        """Begin to build the copy, where nobody has yet."""
        with self.lock:
            failed = self.building and self.building.done() and self.building.exception()
            if self.copy is None and (self.building is None or failed):
                self.building = _in_background()

    def forget(self) -> None:
        """Build a new copy for the next question."""
        with self.lock:
            self.copy = self.building = None

    @contextmanager
    def _reader(self) -> Iterator[Duck]:
        """A cursor whose transaction sees what PostgreSQL has committed by now."""
        reader = None
        while reader is None:
            copy = self._present()
            with self.lock:
                if self.copy is copy and self._follow(copy):
                    reader = _begun(copy.duck)
        try:
            yield reader
        finally:
            reader.close()

    def _follow(self, copy: Copy) -> bool:
        """Bring the copy up to date; False, and it is forgotten, when too much has changed."""
        with connection.cursor() as cursor:
            changes = changes_since(cursor, copy.state)
        is_forgotten = time.time() - copy.followed_at > USABLE_SECONDS
        copy.followed_at = time.time()
        if not changes and not is_forgotten:
            return True
        if is_forgotten or is_too_much(changes):
            self.forget()
            return False
        with one_moment(), connection.cursor() as cursor:
            changes = changes_since(cursor, copy.state)
            with one_step(copy.duck):
                apply(copy.duck, cursor, changes)
        copy.state = changes.state
        copy.unpacked += len(changes.runs)
        if copy.unpacked >= PACK_AFTER:
            pack(copy.duck)
            copy.unpacked = 0
        return True

    @contextmanager
    def _followed_in_passing(self) -> Iterator[Duck]:
        """A cursor that sees what the caller's transaction sees; nothing of that is kept."""
        copy = self._present()
        with self.lock, connection.cursor() as cursor:
            changes = changes_since(cursor, copy.state)
            if is_too_much(changes):
                duck = filled_copy(cursor)
            else:
                duck = _begun(copy.duck)
                apply(duck, cursor, changes)
            try:
                yield duck
            finally:
                duck.close()  # without a commit

    def _present(self) -> Copy:
        """The copy as it was left, or a new one."""
        with self.lock:
            self.prepare()
            if self.copy is not None:
                return self.copy
            building = self.building
        assert building is not None  # noqa: S101 - for the type checker
        try:
            made = building.result(timeout=PATIENCE_SECONDS)
        except NotYet:
            raise AnalyticsUnavailable("The figures are being prepared") from None
        except Exception:
            with self.lock:
                if self.building is building:
                    self.building = None
            raise
        with self.lock:
            if self.building is building:
                self.copy, self.building = made, None
        return made


def _ask(duck: Duck) -> Ask:
    return Ask(lambda statement, given: duck.execute(statement, dict(given)).fetchall())


def _begun(duck: Duck) -> Duck:
    """A cursor in a transaction that sees the copy as it is now."""
    cursor = duck.cursor()
    cursor.begin()
    cursor.execute("SELECT 1 FROM run LIMIT 0")  # it begins with its first statement
    return cursor


def _in_background() -> "Future[Copy]":
    """Build a copy by a thread with connections of its own: whoever asked may stop waiting."""
    future: Future[Copy] = Future()

    def run() -> None:
        try:
            future.set_result(build())
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)
        finally:
            connections.close_all()

    threading.Thread(target=run, name="analytics", daemon=True).start()
    return future


def build() -> Copy:
    """Copy all that PostgreSQL has now."""
    with connection.cursor() as cursor:
        state = present_state(cursor)
    duck = copy_of_all()
    lock_down(duck)
    return Copy(duck, state)


_engine = Engine()


def engine() -> Engine:
    """That of this process; a fork does not inherit its parent's."""
    global _engine
    if _engine.process != os.getpid():
        _engine = Engine()
    return _engine


def prepare() -> None:
    """Have this process answer soon after its start."""
    if not settings.CIPHERMARK_ANALYTICS_URL:
        engine().prepare()


def _of_this_site() -> AbstractContextManager[Ask]:
    if not settings.CIPHERMARK_ANALYTICS_URL:
        return engine().questions()
    from results.analytics.clickhouse.server import server  # most sites have none

    return server().questions()


_asking: ContextVar[Ask | None] = ContextVar("_asking", default=None)


@contextmanager
def questions() -> Iterator[Ask]:
    """See the module; inside another block it is part of that one."""
    outer = _asking.get()
    if outer is not None:
        yield outer
        return
    with _of_this_site() as ask:
        token = _asking.set(ask)
        try:
            yield ask
        finally:
            _asking.reset(token)
