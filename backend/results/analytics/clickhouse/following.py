"""How the tables in ClickHouse follow PostgreSQL: in steps, one after the other.

Whoever finds that something is missing brings it, web servers and workers alike; a lock in
PostgreSQL lets one at a time. A step that is cut off is marked as failed by the next.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import orjson
from clickhouse_connect.driver.client import Client
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.utils import CursorWrapper

from results.analytics.clickhouse.tables import (
    CREATE_ENDED,
    CREATE_STATES,
    ENDED,
    INDICES,
    KEY_OF_RUNS,
    STATES,
    WRITTEN,
    Written,
    create,
    name_of,
    parameters_of,
    seen,
)
from results.analytics.copy import indices_of, sets_of
from results.analytics.snapshot import USABLE_SECONDS
from results.analytics.tables import (
    CPU_BOUND_INDEX,
    ENVIRONMENTS,
    LEVEL,
    OF_RUNS,
    RESULT,
    RUN,
    SERIES_OF_SET,
    SET_OF_RUN,
    SPEED_INDEX,
    TABLES,
    Table,
    as_received,
)
from results.analytics.unseen_changes import Changes, State, changes_since, present_state
from store.models.run import COUNTED
from store.outage import AnalyticsUnavailable

logger = logging.getLogger(__name__)

RUNS_AT_ONCE = 2_000
"""Runs whose rows become one block of each table."""

LOCK = 0x0C1C
"""Of the database's advisory locks, the one of who writes to ClickHouse."""

_TRY = "SELECT pg_try_advisory_xact_lock(%s)"
_TRIED_EVERY_SECONDS = 0.02

_KEYS = f"SELECT r.id FROM runs_run r WHERE {COUNTED} ORDER BY r.id"  # noqa: S608 - constants

REFRESHED_SECONDS = 3600
"""A state that nothing has changed since: written again before it is too old to be of use."""

KEPT_SECONDS = 900
"""Rows that are no longer seen: longer than any block of questions lasts."""

LEFT_SECONDS = 3600
"""Tables: during an update a process of the version before still asks its own."""

_CUT_OFF = f"""
SELECT generation, step FROM {STATES} GROUP BY generation, step HAVING max(what) = 'begun'
"""  # noqa: S608 - constants
_LAST_STEP = f"SELECT max(step) FROM {STATES} WHERE generation = {{generation: UInt64}}"  # noqa: S608
_LONG_DONE = f"""
SELECT maxIf(step, what = 'done'), groupArrayIf(step, what = 'failed') FROM {STATES}
WHERE generation = {{generation: UInt64}} AND at < now() - {{seconds: Int64}}
"""  # noqa: S608 - constants
_LONG_ENDED = f"""
SELECT run, max(step) FROM {ENDED}
WHERE generation = {{generation: UInt64}} AND step <= {{last: UInt64}} GROUP BY run
"""  # noqa: S608 - constants
_BEFORE_ENDED = "since < transform({key}, {{runs: Array(Int64)}}, {{steps: Array(UInt64)}}, 0)"
_FORGET_ENDED = f"""
DELETE FROM {ENDED} WHERE generation < {{generation: UInt64}}
    OR generation = {{generation: UInt64}} AND step <= {{last: UInt64}}
"""  # noqa: S608 - constants
_FORGET_STEPS = f"""
DELETE FROM {STATES} WHERE generation = {{generation: UInt64}} AND step <= {{last: UInt64}}
"""  # noqa: S608 - constants
_TABLES = """
SELECT name FROM system.tables
WHERE database = currentDatabase() AND match(name, '^ciphermark_[0-9]+_')
"""


def written(client: Client) -> Written | None:
    """What ClickHouse has; None before it has anything."""
    rows = client.query(WRITTEN).result_rows
    return Written.of_row(rows[0]) if rows else None


def prepare(client: Client) -> None:
    """Make the tables that tell of the others."""
    client.command(CREATE_STATES)
    client.command(CREATE_ENDED)


@contextmanager
def writing(patience: float) -> Iterator[CursorWrapper]:
    """The one that writes: its cursor sees one moment of PostgreSQL, taken after others wrote.

    By a connection of its own, as the caller's may be in a transaction. `AnalyticsUnavailable`
    when somebody else still writes after `patience` seconds.
    """
    own = connections[DEFAULT_DB_ALIAS].copy()
    deadline = time.monotonic() + patience
    try:
        with own.cursor() as cursor:
            while True:
                cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                cursor.execute(_TRY, [LOCK])
                if cursor.fetchone()[0]:
                    break
                cursor.execute("ROLLBACK")
                if time.monotonic() >= deadline:
                    raise AnalyticsUnavailable("The figures are being prepared")
                time.sleep(_TRIED_EVERY_SECONDS)
            try:
                yield cursor
            finally:
                # A connection that is closed keeps the lock for a moment.
                cursor.execute("ROLLBACK")
    finally:
        own.close()


def follow(client: Client, patience: float) -> bool:
    """Bring what was committed before the call; False where all has to be read anew."""
    with writing(patience) as cursor:
        return follow_to(client, cursor)


def follow_to(client: Client, cursor: CursorWrapper) -> bool:
    """The same as the one that writes."""
    _note_failed(client)
    before = written(client)
    if before is None or before.age > USABLE_SECONDS:
        return False
    changes = changes_since(cursor, before.state)
    if changes.everything:
        return False
    if changes or before.age > REFRESHED_SECONDS:
        with _step(client, before.generation, changes.state) as step:
            _apply(client, cursor, changes, before, step)
    return True


def build(client: Client, patience: float) -> None:
    """Read everything into tables of their own, which then take the place of those before."""
    with writing(patience) as cursor:
        begun = time.monotonic()
        state = present_state(cursor)
        before = written(client)
        # The newest counts, whatever another machine's clock said of the one before.
        generation = max(time.time_ns(), before.generation + 1 if before else 0)
        for table in TABLES:
            client.command(create(table, generation))
        empty = Written(generation, 0, state)
        cursor.execute(_KEYS)
        keys = [key for (key,) in cursor.fetchall()]
        with _step(client, generation, state) as step:
            for batch in _batches(keys):
                _insert_runs(client, cursor, batch, empty, step)
        logger.info("ClickHouse: %d runs in %.1f s", len(keys), time.monotonic() - begun)


def _note_failed(client: Client) -> None:
    """The step that was begun and not done: by one that is no more, since the lock is ours."""
    for generation, step in client.query(_CUT_OFF).result_rows:
        _note(client, generation, step, "failed")


@contextmanager
def _step(client: Client, generation: int, state: State) -> Iterator[int]:
    """A new step, of which nothing is seen unless the block gets to its end."""
    last = client.query(_LAST_STEP, {"generation": generation}).result_rows
    step = last[0][0] + 1
    _note(client, generation, step, "begun")
    yield step
    _note(client, generation, step, "done", state)


def _note(
    client: Client, generation: int, step: int, what: str, state: State | None = None
) -> None:
    row = [generation, step, what, state.epoch if state else "", state.snapshot if state else ""]
    columns = ["generation", "step", "what", "epoch", "snapshot"]
    client.insert(STATES, [row], columns)


def _apply(
    client: Client, cursor: CursorWrapper, changes: Changes, before: Written, step: int
) -> None:
    runs = list(changes.runs)
    if runs:
        known = client.query(
            f"SELECT id FROM ({seen('run', before.shape)}) WHERE id IN {{runs: Array(Int64)}}",  # noqa: S608
            {**parameters_of(before), "runs": runs},
        ).result_rows
        _end(client, before.generation, step, [key for (key,) in known])
        for batch in _batches(runs):
            _insert_runs(client, cursor, batch, before, step)
    if changes.profiles:
        _end(client, before.generation, step, [0])
        cursor.execute(_KEYS)
        for batch in _batches(key for (key,) in cursor.fetchall()):
            if table_rows := _received(cursor, SPEED_INDEX, batch):
                _insert(client, SPEED_INDEX, table_rows, before.generation, step)
            _insert_indices(client, cursor, _received(cursor, LEVEL, batch), before, step)


def _end(client: Client, generation: int, step: int, runs: Iterable[int]) -> None:
    rows = [[generation, step, run] for run in runs]
    if rows:
        client.insert(ENDED, rows, ["generation", "step", "run"])


def _batches(keys: Iterable[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    for key in keys:
        batch.append(key)
        if len(batch) == RUNS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _received(cursor: CursorWrapper, table: Table, keys: Sequence[int]) -> tuple[str, ...]:
    """The columns of these rows as JSON texts."""
    cursor.execute(table.select, [list(keys)])
    rows: tuple[str, ...] = cursor.fetchone()
    return rows


def _insert(
    client: Client, table: Table, columns: Sequence[str], generation: int, step: int
) -> None:
    number = len(orjson.loads(columns[0]))
    if not number:
        return
    since = orjson.dumps([step] * number).decode()
    named = [f'"{name}": {text}' for name, text in zip(table.columns, columns, strict=True)]
    block = "{" + ", ".join([*named, f'"since": {since}']) + "}"
    client.raw_insert(
        name_of(table.name, generation),
        [*table.columns, "since"],
        block,
        fmt="JSONColumns",
    )


def _insert_runs(
    client: Client, cursor: CursorWrapper, runs: Sequence[int], before: Written, step: int
) -> None:
    """These runs with all that belongs to them; the runs themselves last."""
    generation = before.generation
    of_runs = _received(cursor, RUN, runs)
    environments = set(orjson.loads(of_runs[list(RUN.columns).index("environment")]))
    if missing := _unknown(client, "environment", "id", environments, before, step):
        for table in ENVIRONMENTS:
            _insert(client, table, _received(cursor, table, missing), generation, step)
    received = {table.name: _received(cursor, table, runs) for table in OF_RUNS}
    of_set, series = sets_of(received[RESULT.name])
    new = set(
        _unknown(client, "series_of_set", "series_set", {row[0] for row in series}, before, step)
    )
    for table, rows in (
        (SERIES_OF_SET, [row for row in series if row[0] in new]),
        (SET_OF_RUN, of_set),
    ):
        if rows:
            _insert(client, table, as_received(rows), generation, step)
    for table in OF_RUNS:
        _insert(client, table, received[table.name], generation, step)
    _insert_indices(client, cursor, received[LEVEL.name], before, step)
    _insert(client, RUN, of_runs, generation, step)


def _insert_indices(
    client: Client, cursor: CursorWrapper, levels: Sequence[str], before: Written, step: int
) -> None:
    rows = indices_of(cursor, zip(*map(orjson.loads, levels), strict=True))
    if rows:
        _insert(client, CPU_BOUND_INDEX, as_received(rows), before.generation, step)


def _unknown(
    client: Client, table: str, column: str, keys: Iterable[int], before: Written, step: int
) -> list[int]:
    """Those of the keys that no row is of, also of the step that is being made."""
    wanted = list(keys)
    if not wanted:
        return []
    now = {**parameters_of(before), "step": step, "keys": wanted}
    kind = "UInt64" if column == "series_set" else "Int64"
    rows = client.query(
        f"SELECT DISTINCT {column} FROM ({seen(table, before.shape)})"  # noqa: S608 - closed lists
        f" WHERE {column} IN {{keys: Array({kind})}}",
        now,
    ).result_rows
    return list(set(wanted) - {key for (key,) in rows})


def tidy(client: Client, patience: float) -> None:
    """Remove what nobody sees any more: rows that have ended, tables of generations before."""
    with writing(patience):
        now = written(client)
        if now is None:
            return
        _remove_ended(client, now)
        if time.time() - now.generation / 1e9 > LEFT_SECONDS:
            _drop_tables_before(client, now)


def _remove_ended(client: Client, now: Written) -> None:
    of_all = {"generation": now.generation, "seconds": KEPT_SECONDS}
    ((last, failed),) = client.query(_LONG_DONE, of_all).result_rows
    rows = client.query(_LONG_ENDED, {**of_all, "last": last}).result_rows
    of_run = {int(run): int(step) for run, step in rows}
    of_indices = of_run.pop(0, 0)
    given = {
        "runs": list(of_run),
        "steps": list(of_run.values()),
        "failed": failed,
        "of_indices": of_indices,
    }
    for table in (one.name for one in TABLES):
        conditions, key = [], KEY_OF_RUNS.get(table)
        if of_run and key:
            conditions.append(_BEFORE_ENDED.format(key=key))
        if failed:
            conditions.append("since IN {failed: Array(UInt64)}")
        if of_indices and table in INDICES:
            conditions.append("since < {of_indices: UInt64}")
        if conditions:
            name = name_of(table, now.generation)
            client.command(f"DELETE FROM {name} WHERE {' OR '.join(conditions)}", given)  # noqa: S608
    client.command(_FORGET_ENDED, {**of_all, "last": last})
    client.command(_FORGET_STEPS, {**of_all, "last": min(last, now.step - 1)})


def _drop_tables_before(client: Client, now: Written) -> None:
    """Also those of versions of the program before: who still asked them has long gone."""
    own = {STATES, ENDED, *(name_of(table.name, now.generation) for table in TABLES)}
    for (name,) in client.query(_TABLES).result_rows:
        if name not in own:
            client.command(f"DROP TABLE IF EXISTS {name}")
