"""The copy: tables of DuckDB in the memory of this process, and how they follow PostgreSQL."""

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import orjson
from django.conf import settings
from django.db.backends.utils import CursorWrapper

from results.analytics.cpu_bound import add_indices
from results.analytics.series_sets import add_sets
from results.analytics.tables import (
    COMPUTED_OF_RUNS,
    CPU_BOUND_INDEX,
    ENVIRONMENTS,
    INDEX_OF_PROFILE,
    LEVEL,
    OF_RUNS,
    RESULT,
    RUN,
    TABLES,
    Table,
)
from results.analytics.unseen_changes import Changes
from store.models.run import COUNTED

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

_FORGET_SETS = """
DELETE FROM series_of_set WHERE series_set NOT IN (SELECT series_set FROM set_of_run)
"""

_LEVELS = f"SELECT {LEVEL.names} FROM level"  # noqa: S608 - constants

_KEYS = f"SELECT r.id FROM runs_run r WHERE {COUNTED} ORDER BY r.id"  # noqa: S608 - constants

Duck = duckdb.DuckDBPyConnection


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
    duck.execute("CHECKPOINT")  # compresses: a quarter of the memory, and questions no slower
    duck.execute("SET enable_external_access = false")
    duck.execute("SET lock_configuration = true")


def read_everything(duck: Duck, cursor: CursorWrapper) -> Iterator[int]:
    """Fill an empty copy from PostgreSQL; yields how many runs it has after each step."""
    cursor.execute(_KEYS)
    keys = [key for (key,) in cursor.fetchall()]
    done = 0
    for batch in batches(keys):
        _insert_runs(duck, cursor, batch)
        _insert_of_runs(duck, cursor, batch)
        done += len(batch)
        yield done
    sort_results(duck)


def filled_copy(cursor: CursorWrapper) -> Duck:
    """A copy of all that the cursor's transaction sees."""
    duck = empty_copy(settings.CIPHERMARK_ANALYTICS_MEMORY)
    for _ in read_everything(duck, cursor):
        pass
    return duck


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
    for batch in batches(list(changes.runs)):
        delete(duck, "run", "id", known.intersection(batch))
        _insert_runs(duck, cursor, batch)
    for batch in batches(changed):
        _delete_of_runs(duck, known.intersection(batch))
        _insert_of_runs(duck, cursor, batch)
    if changes.profiles:
        profiles = list(changes.profiles)
        for table in (INDEX_OF_PROFILE, CPU_BOUND_INDEX):
            delete(duck, table.name, "profile", profiles)
        insert(duck, cursor, INDEX_OF_PROFILE, profiles)
        levels = duck.execute(_LEVELS).fetchall()
        add_indices(duck, cursor, levels, profiles)
    if known:
        _delete_of_runs(duck, known - _known(duck, known))
        duck.execute("DELETE FROM environment WHERE id NOT IN (SELECT environment FROM run)")
        duck.execute(_FORGET_SETS)


def batches(keys: Iterable[int]) -> Iterator[list[int]]:
    """The keys, so many at once."""
    left = iter(keys)
    while batch := list(islice(left, RUNS_AT_ONCE)):
        yield batch


def insert(duck: Duck, cursor: CursorWrapper, table: Table, keys: Sequence[int]) -> tuple[Any, ...]:
    """Copy the rows of these keys; returns them as they came, parameters of `table.received`."""
    cursor.execute(table.select, [list(keys)])
    rows: tuple[Any, ...] = cursor.fetchone()
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
    """Insert these runs, and those of their environments that are new; they never change."""
    environments = insert(duck, cursor, RUN, runs)[list(RUN.columns).index("environment")]
    missing = duck.execute(_NEW_ENVIRONMENTS, [environments]).fetchall()
    if missing:
        for table in ENVIRONMENTS:
            insert(duck, cursor, table, [key for (key,) in missing])


def _insert_of_runs(duck: Duck, cursor: CursorWrapper, runs: Sequence[int]) -> None:
    """Insert the results, levels and indices of these runs, and what is computed from them."""
    received = {table.name: insert(duck, cursor, table, runs) for table in OF_RUNS}
    add_sets(duck, received[RESULT.name])
    add_indices(duck, cursor, zip(*map(orjson.loads, received[LEVEL.name]), strict=True))


def _delete_of_runs(duck: Duck, runs: Collection[int]) -> None:
    for table in (*OF_RUNS, *COMPUTED_OF_RUNS):
        delete(duck, table.name, "run", runs)
