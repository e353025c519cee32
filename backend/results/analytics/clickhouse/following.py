"""How the tables in ClickHouse follow PostgreSQL: in steps, one after the other.

Whoever finds that something is missing brings it, web servers and workers alike; a lock in
PostgreSQL lets one at a time. A step that is cut off is marked as failed by the next.
"""

import logging
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from uuid import uuid4

import orjson
from clickhouse_connect.driver.client import Client
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.utils import CursorWrapper

from results.analytics.clickhouse.tables import (
    CREATE_ENDED,
    CREATE_STATES,
    ENDED,
    KEY_OF_RUNS,
    STATES,
    WRITTEN,
    Written,
    create,
    name_of,
    parameters_of,
    seen,
)
from results.analytics.copy import batches, counted_runs, received
from results.analytics.tables import (
    ENVIRONMENTS,
    OF_RUNS,
    RUN,
    SERIES_OF_SET,
    TABLES,
    VERSION,
    Table,
)
from results.analytics.unseen_changes import (
    USABLE_SECONDS,
    Changes,
    State,
    changes_since,
    present_state,
)
from store.outage import AnalyticsUnavailable

logger = logging.getLogger(__name__)

RUNS_AT_ONCE = 2_000
"""Runs whose rows become one block of each table."""

FOLLOWING, BUILDING, TIDYING = 0x0C1C, 0x0C1D, 0x0C1E
"""Of the database's advisory locks, those of who writes to ClickHouse: one alone does each."""

_TRY = "SELECT pg_try_advisory_xact_lock(%s)"
_TRIED_EVERY_SECONDS = 0.02

REFRESHED_SECONDS = 3600
"""A state that nothing has changed since: written again before it is too old to be of use."""

KEPT_SECONDS = 900
"""Rows that are no longer seen: longer than any block of questions lasts."""

LEFT_SECONDS = 3600
"""Tables: during an update a process of the version before still asks its own."""

FAILED_KEPT_SECONDS = 86_400
"""Marks of failed steps: whoever was suspended in one may still add rows to it."""

_GENERATION = re.compile(rf"ciphermark_{VERSION}_([0-9]+)_")

_KNOWN = "SELECT id FROM ({runs}) WHERE id IN {{runs: Array(Int64)}}"
_CUT_OFF = f"""
SELECT step FROM {STATES} WHERE generation = {{generation: UInt64}}
GROUP BY step HAVING max(what) = 'begun'
"""  # noqa: S608 - constants
_LAST_STEP = f"SELECT max(step) FROM {STATES} WHERE generation = {{generation: UInt64}}"  # noqa: S608
_LONG_DONE = f"""
SELECT maxIf(step, what = 'done' AND at < now() - {{seconds: Int64}}),
    countIf(step = 1 AND what = 'done' AND at < now() - {{left: Int64}}),
    groupArrayIf(step, what = 'failed' AND at < now() - {{seconds: Int64}})
FROM {STATES} WHERE generation = {{generation: UInt64}}
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
DELETE FROM {STATES} WHERE generation = {{generation: UInt64}}
    AND step > 1 AND step <= {{before: UInt64}} AND step NOT IN (
        SELECT step FROM {STATES} WHERE generation = {{generation: UInt64}} AND what = 'failed'
            AND at >= now() - {FAILED_KEPT_SECONDS}
    )
"""  # noqa: S608 - constants
"""The first one tells how long the generation has been there."""
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
def alone(lock: int, patience: float) -> Iterator[CursorWrapper]:
    """The only one to do this; its cursor sees one moment of PostgreSQL, taken after others did it.

    By a connection of its own, as the caller's may be in a transaction. `AnalyticsUnavailable`
    when somebody else still does it after `patience` seconds.
    """
    own = connections[DEFAULT_DB_ALIAS].copy()
    deadline = time.monotonic() + patience
    try:
        with own.cursor() as cursor:
            while True:
                cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                cursor.execute(_TRY, [lock])
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
    with alone(FOLLOWING, patience) as cursor:
        return follow_to(client, cursor)


def follow_to(client: Client, cursor: CursorWrapper) -> bool:
    """The same as the one that follows."""
    before = _settled(client)
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
    """Read everything into tables of their own, which then take the place of those before.

    Those are followed meanwhile. Nothing is done where somebody else has done it by then.
    """
    before = written(client)
    with alone(BUILDING, patience) as cursor:
        newest = written(client)
        if newest and (before is None or newest.generation > before.generation):
            return
        begun = time.monotonic()
        state = present_state(cursor)
        # The newest counts, whatever another machine's clock said of the one before.
        generation = max(time.time_ns(), newest.generation + 1 if newest else 0)
        for table in TABLES:
            client.command(create(table, generation))
        empty = Written(generation, 0, state)
        keys = counted_runs(cursor)
        with _step(client, generation, state) as step:
            for batch in batches(keys, RUNS_AT_ONCE):
                _insert_runs(client, cursor, batch, empty, step)
        logger.info("ClickHouse: %d runs in %.1f s", len(keys), time.monotonic() - begun)


def _settled(client: Client) -> Written | None:
    """What ClickHouse has, once a step that was begun and not done is marked as failed.

    It is of one that is no more, since the lock is ours.
    """
    now = written(client)
    if now is None:
        return None
    cut_off = client.query(_CUT_OFF, {"generation": now.generation}).result_rows
    for (step,) in cut_off:
        _note(client, now.generation, step, "failed")
    return written(client) if cut_off else now


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
    client.insert(STATES, [row], columns, settings=_once())


def _once() -> dict[str, str]:
    """Settings of an insert: one whose answer is lost is sent again, and must not count twice."""
    return {"insert_deduplication_token": uuid4().hex}


def _apply(
    client: Client, cursor: CursorWrapper, changes: Changes, before: Written, step: int
) -> None:
    for batch in batches(changes.runs, RUNS_AT_ONCE):
        known = client.query(
            _KNOWN.format(runs=seen("run", before.shape)), {**parameters_of(before), "runs": batch}
        ).result_rows
        _end(client, before.generation, step, [key for (key,) in known])
        _insert_runs(client, cursor, batch, before, step)


def _end(client: Client, generation: int, step: int, runs: Iterable[int]) -> None:
    rows = [[generation, step, run] for run in runs]
    if rows:
        client.insert(ENDED, rows, ["generation", "step", "run"], settings=_once())


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
        settings=_once(),
        fmt="JSONColumns",
    )


def _insert_runs(
    client: Client,
    cursor: CursorWrapper,
    runs: Sequence[int],
    before: Written,
    step: int,
) -> None:
    """Insert these runs with all that belongs to them."""
    generation = before.generation
    of_runs = received(cursor, RUN, runs)
    environments = set(orjson.loads(of_runs[list(RUN.columns).index("environment")]))
    if missing := _unknown(client, "environment", "id", environments, before, step):
        for table in ENVIRONMENTS:
            _insert(client, table, received(cursor, table, missing), generation, step)
    ids, sets = (
        orjson.loads(of_runs[list(RUN.columns).index(name)]) for name in ("id", "series_set")
    )
    of_set = dict(zip(sets, ids, strict=True))
    new = _unknown(client, "series_of_set", "series_set", of_set, before, step)
    series = received(cursor, SERIES_OF_SET, [of_set[key] for key in new])
    _insert(client, SERIES_OF_SET, series, generation, step)
    for table in OF_RUNS:
        _insert(client, table, received(cursor, table, runs), generation, step)
    _insert(client, RUN, of_runs, generation, step)


def _unknown(
    client: Client, table: str, column: str, keys: Iterable[int], before: Written, step: int
) -> list[int]:
    """Those of the keys that no row is of, also of the step that is being made."""
    wanted = list(keys)
    if not wanted:
        return []
    now = {**parameters_of(before), "step": step, "keys": wanted}
    rows = client.query(
        f"SELECT DISTINCT {column} FROM ({seen(table, before.shape)})"  # noqa: S608 - closed lists
        f" WHERE {column} IN {{keys: Array(Int64)}}",
        now,
    ).result_rows
    return list(set(wanted) - {key for (key,) in rows})


def tidy(client: Client, patience: float) -> None:
    """Remove what nobody sees any more: rows that have ended, tables of generations before."""
    with alone(TIDYING, patience):
        now = written(client)
        if now is None:
            return
        of_all = {"generation": now.generation, "seconds": KEPT_SECONDS, "left": LEFT_SECONDS}
        ((last, first_is_old, failed),) = client.query(_LONG_DONE, of_all).result_rows
        _remove_ended(client, now, last, failed)
        given = {**of_all, "last": last, "before": min(last, now.step - 1)}
        client.command(_FORGET_ENDED, given)
        client.command(_FORGET_STEPS, given)
        if first_is_old:
            _drop_tables_before(client, now)


def _remove_ended(client: Client, now: Written, last: int, failed: Sequence[int]) -> None:
    of_all = {"generation": now.generation, "last": last}
    ended = [(int(run), int(step)) for run, step in client.query(_LONG_ENDED, of_all).result_rows]
    for table in (one.name for one in TABLES):
        name, key = name_of(table, now.generation), KEY_OF_RUNS.get(table)
        if failed:
            condition = "since IN {failed: Array(UInt64)}"
            client.command(f"DELETE FROM {name} WHERE {condition}", {"failed": list(failed)})  # noqa: S608
        for batch in batches(ended, RUNS_AT_ONCE) if key else ():
            runs, steps = zip(*batch, strict=True)
            given = {"runs": list(runs), "steps": list(steps)}
            client.command(f"DELETE FROM {name} WHERE {_BEFORE_ENDED.format(key=key)}", given)  # noqa: S608


def _drop_tables_before(client: Client, now: Written) -> None:
    """Those of earlier generations, and of versions of the program before, which nobody asks."""
    own = {STATES, ENDED, *(name_of(table.name, now.generation) for table in TABLES)}
    for (name,) in client.query(_TABLES).result_rows:
        found = _GENERATION.match(name)
        if name not in own and not (found and int(found[1]) > now.generation):  # being built
            client.command(f"DROP TABLE IF EXISTS {name}")
