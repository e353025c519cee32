"""The copy: tables of DuckDB in the memory of this process, and how they follow PostgreSQL."""

import logging
import os
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

import duckdb
from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper

from results.analytics.tables import (
    ENVIRONMENTS,
    OF_RUNS,
    RUN,
    SERIES_OF_SET,
    TABLES,
    Table,
)
from results.analytics.unseen_changes import Changes
from store.models.run import COUNTED
from store.statements import one_moment

logger = logging.getLogger(__name__)

SAID_EVERY_SECONDS = 10.0

MOST_CHANGES = 20_000
"""Runs: beyond that, building the copy again takes no longer than following them."""

RUNS_AT_ONCE = 1_000
"""Runs whose results travel in one text: about 10 MB."""

THREADS = 2
"""Of each question: uploads are answered beside them."""

_NEW_ENVIRONMENTS = """
SELECT DISTINCT id FROM (SELECT unnest(from_json(?, '["INTEGER"]')) AS id)
ANTI JOIN environment USING (id)
"""

_OF_NEW_SETS = """
SELECT min(id) FROM run WHERE series_set NOT IN (SELECT series_set FROM series_of_set)
GROUP BY series_set
"""

_FORGET_SETS = """
DELETE FROM series_of_set WHERE series_set NOT IN (SELECT series_set FROM run)
"""

_KEYS = f"SELECT r.id FROM runs_run r WHERE {COUNTED} ORDER BY r.id"  # noqa: S608 - constants

Duck = duckdb.DuckDBPyConnection
Key = TypeVar("Key")


def empty_copy(memory: str) -> Duck:
    """A database in memory, with the tables of the copy and nothing in them.

    What does not fit into `memory` spills to the disk, and questions are slower.
    """
    spilled = Path(tempfile.gettempdir()) / f"ciphermark-analytics-{os.getpid()}"
    duck = duckdb.connect(
        config={"threads": THREADS, "memory_limit": memory, "temp_directory": str(spilled)}
    )
    for table in TABLES:
        duck.execute(table.create)
    return duck


def lock_down(duck: Duck) -> None:
    """A filled copy is compressed, and from now on shut.

    Its statements read no file, load no extension and change no setting.
    """
    pack(duck)
    duck.execute("SET enable_external_access = false")
    duck.execute("SET lock_configuration = true")


def pack(duck: Duck) -> None:
    """Give back the room of rows that are gone, and compress: a quarter of the memory.

    Questions are no slower for it, and those under way go on with what they see.
    """
    duck.execute("CHECKPOINT")


def read_everything(duck: Duck, cursor: CursorWrapper) -> Iterator[int]:
    """Fill an empty copy from PostgreSQL; yields how many runs it has after each step."""
    done = 0
    for batch in batches(counted_runs(cursor), RUNS_AT_ONCE):
        _insert_runs(duck, cursor, batch)
        _insert_of_runs(duck, cursor, batch)
        done += len(batch)
        yield done
    sort_results(duck)


def filled_copy(cursor: CursorWrapper) -> Duck:
    """A copy of all that the cursor's transaction sees."""
    begun = said = time.monotonic()
    duck = empty_copy(settings.CIPHERMARK_ANALYTICS_MEMORY)
    done = 0
    for done in read_everything(duck, cursor):
        if time.monotonic() - said >= SAID_EVERY_SECONDS:
            said = time.monotonic()
            logger.info("analytics copy: %d runs read", done)
    logger.info("analytics copy: %d runs in %.1f s", done, time.monotonic() - begun)
    return duck


def copy_of_all() -> Duck:
    """A copy of all that is committed, and of nothing else.

    It may have more than a state that was read before, and never less: following it from that
    state on brings some changes once more, which alters nothing.
    """
    with one_moment(), connection.cursor() as cursor:
        return filled_copy(cursor)


@contextmanager
def one_step(duck: Duck) -> Iterator[None]:
    """Whatever is done here is done as a whole, or not at all."""
    duck.begin()
    try:
        yield
        duck.commit()
    except BaseException:
        duck.rollback()
        raise


def sort_results(duck: Duck) -> None:
    """Have the results of a series beside each other: a question then reads only its own series."""
    duck.execute("CREATE TABLE sorted AS SELECT * FROM result ORDER BY series, run")
    duck.execute("DROP TABLE result")
    duck.execute("ALTER TABLE sorted RENAME TO result")


def is_too_much(changes: Changes) -> bool:
    """Whether the copy has to be built again."""
    return changes.everything or len(changes.runs) > MOST_CHANGES


def apply(duck: Duck, cursor: CursorWrapper, changes: Changes) -> None:
    """Bring the copy up to date; the caller's transactions make it one step on both sides."""
    known = _known(duck, changes.runs)
    changed = [run for run, has_new_results in changes.runs.items() if has_new_results]
    changed += [run for run in changes.runs if not changes.runs[run] and run not in known]
    for batch in batches(changes.runs, RUNS_AT_ONCE):
        delete(duck, "run", "id", known.intersection(batch))
        _insert_runs(duck, cursor, batch)
    for batch in batches(changed, RUNS_AT_ONCE):
        _delete_of_runs(duck, known.intersection(batch))
        _insert_of_runs(duck, cursor, batch)
    if known:
        _delete_of_runs(duck, known - _known(duck, known))
        duck.execute("DELETE FROM environment WHERE id NOT IN (SELECT environment FROM run)")
        duck.execute(_FORGET_SETS)


def counted_runs(cursor: CursorWrapper) -> list[int]:
    """The keys of all runs that count."""
    cursor.execute(_KEYS)
    return [key for (key,) in cursor.fetchall()]


def batches(keys: Iterable[Key], size: int) -> Iterator[list[Key]]:
    """The keys, so many at once."""
    left = iter(keys)
    while batch := list(islice(left, size)):
        yield batch


def received(cursor: CursorWrapper, table: Table, keys: Sequence[int]) -> tuple[str, ...]:
    """The rows of these keys as PostgreSQL sends them: parameters of `table.received`."""
    cursor.execute(table.select, [list(keys)])
    rows: tuple[str, ...] = cursor.fetchone()
    return rows


def insert(duck: Duck, cursor: CursorWrapper, table: Table, keys: Sequence[int]) -> tuple[str, ...]:
    """Copy the rows of these keys; returns them as they came."""
    rows = received(cursor, table, keys)
    duck.execute(table.insert, rows)
    return rows


def delete(duck: Duck, table: str, column: str, keys: Collection[int]) -> None:
    """Remove the rows of these keys."""
    if not keys:
        return
    statement = f'DELETE FROM "{table}" WHERE "{column}" IN (SELECT unnest(?::INTEGER[]))'  # noqa: S608
    duck.execute(statement, [list(keys)])


def _known(duck: Duck, runs: Iterable[int]) -> set[int]:
    statement = "SELECT id FROM run WHERE id IN (SELECT unnest(?::INTEGER[]))"
    return {key for (key,) in duck.execute(statement, [list(runs)]).fetchall()}


def _insert_runs(duck: Duck, cursor: CursorWrapper, runs: Sequence[int]) -> None:
    """Insert these runs, and of their environments and sets of series the new ones."""
    environments = insert(duck, cursor, RUN, runs)[list(RUN.columns).index("environment")]
    missing = duck.execute(_NEW_ENVIRONMENTS, [environments]).fetchall()
    if missing:
        for table in ENVIRONMENTS:
            insert(duck, cursor, table, [key for (key,) in missing])
    if of_new_sets := duck.execute(_OF_NEW_SETS).fetchall():
        insert(duck, cursor, SERIES_OF_SET, [key for (key,) in of_new_sets])


def _insert_of_runs(duck: Duck, cursor: CursorWrapper, runs: Sequence[int]) -> None:
    """Insert the results, levels and indices of these runs."""
    for table in OF_RUNS:
        insert(duck, cursor, table, runs)


def _delete_of_runs(duck: Duck, runs: Collection[int]) -> None:
    for table in OF_RUNS:
        delete(duck, table.name, "run", runs)
