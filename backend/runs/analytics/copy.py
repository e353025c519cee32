"""The copy: tables of DuckDB in the memory of this process, and how they follow PostgreSQL."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import duckdb
from django.conf import settings
from django.db.backends.utils import CursorWrapper

from runs.analytics.changes import Changes
from runs.analytics.cpu_bound import add_indices
from runs.analytics.tables import (
    CPU_BOUND_INDEX,
    ENVIRONMENTS,
    INDEX_OF_PROFILE,
    OF_RUNS,
    RUN,
    TABLES,
    Table,
)
from runs.models.run import COUNTED

MOST_CHANGES = 20_000
"""Runs: beyond that, building the copy again takes no longer than following them."""

RUNS_AT_ONCE = 1_000
"""Runs whose results travel in one text: about 10 MB."""

THREADS = 2
"""Of each question: uploads are answered beside them."""

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
    """From now on its statements read no file, load no extension and change no setting."""
    duck.execute("SET enable_external_access = false")
    duck.execute("SET lock_configuration = true")


def read_everything(duck: Duck, cursor: CursorWrapper) -> Iterator[int]:
    """Fill an empty copy from PostgreSQL; yields how many runs it has after each step."""
    cursor.execute(_KEYS)
    keys = [key for (key,) in cursor.fetchall()]
    done = 0
    for batch in batches(keys):
        insert(duck, cursor, (RUN, *OF_RUNS), batch)
        add_indices(duck, cursor, runs=batch)
        done += len(batch)
        yield done
    add_environments(duck, cursor)
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
    changed = [run for run, has_new_results in changes.runs.items() if has_new_results]
    known = _known(duck, changes.runs)
    changed += [run for run in changes.runs if not changes.runs[run] and run not in known]
    for batch in batches(list(changes.runs)):
        delete(duck, "run", "id", batch)
        insert(duck, cursor, (RUN,), batch)
    for batch in batches(changed):
        _delete_of_runs(duck, batch)
        insert(duck, cursor, OF_RUNS, batch)
        add_indices(duck, cursor, runs=batch)
    if changes.profiles:
        profiles = list(changes.profiles)
        for table in (INDEX_OF_PROFILE, CPU_BOUND_INDEX):
            delete(duck, table.name, "profile", profiles)
        insert(duck, cursor, (INDEX_OF_PROFILE,), profiles)
        add_indices(duck, cursor, profiles=profiles)
    if changes.runs:
        _remove_orphans(duck, list(changes.runs))
        add_environments(duck, cursor)


def batches(keys: Iterable[int]) -> Iterator[list[int]]:
    """The keys, so many at once."""
    left = iter(keys)
    while batch := list(islice(left, RUNS_AT_ONCE)):
        yield batch


def insert(duck: Duck, cursor: CursorWrapper, tables: Sequence[Table], keys: Sequence[int]) -> None:
    """Copy the rows of these keys."""
    for table in tables:
        cursor.execute(table.select, [list(keys)])
        ((rows,),) = cursor.fetchall()
        duck.execute(table.insert, [rows])


def delete(duck: Duck, table: str, column: str, keys: Sequence[int]) -> None:
    """Remove the rows of these keys."""
    statement = f'DELETE FROM "{table}" WHERE "{column}" IN (SELECT unnest(?::INTEGER[]))'  # noqa: S608
    duck.execute(statement, [list(keys)])


def _known(duck: Duck, runs: Iterable[int]) -> set[int]:
    statement = "SELECT id FROM run WHERE id IN (SELECT unnest(?::INTEGER[]))"
    return {key for (key,) in duck.execute(statement, [list(runs)]).fetchall()}


def _remove_orphans(duck: Duck, runs: list[int]) -> None:
    """Remove what belongs to runs that no longer count."""
    gone = sorted(set(runs) - _known(duck, runs))
    if gone:
        _delete_of_runs(duck, gone)


def _delete_of_runs(duck: Duck, runs: Sequence[int]) -> None:
    for table in (*OF_RUNS, CPU_BOUND_INDEX):
        delete(duck, table.name, "run", runs)


def add_environments(duck: Duck, cursor: CursorWrapper) -> None:
    """Copy the environments of runs that the copy does not know yet; they never change."""
    missing = duck.execute(
        "SELECT DISTINCT environment FROM run ANTI JOIN environment e ON e.id = environment"
    ).fetchall()
    if missing:
        insert(duck, cursor, ENVIRONMENTS, [key for (key,) in missing])
