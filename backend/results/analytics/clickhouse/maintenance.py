"""What is done for ClickHouse beside questions: it is kept up to date, tidied, checked."""

import tempfile

from clickhouse_connect.driver.client import Client
from django.conf import settings
from django.db.backends.utils import CursorWrapper

from results.analytics.clickhouse.following import (
    FOLLOWING,
    alone,
    build,
    follow,
    follow_to,
    tidy,
    written,
)
from results.analytics.clickhouse.server import server
from results.analytics.clickhouse.tables import Written, parameters_of, seen
from results.analytics.copy import FORGET_SETS, Duck, empty_copy, filled_copy
from results.analytics.tables import TABLES, Table
from results.analytics.unseen_changes import oldest_unseen_change

PATIENCE_SECONDS = 60.0

_UNUSED = {
    "environment": "DELETE FROM environment WHERE id NOT IN (SELECT environment FROM run)",
    "series_of_set": FORGET_SETS,
}
"""Table of what is never removed -> DuckDB: the rows that no run has any more go."""


def bring() -> None:
    """Bring what was committed. Reading everything, the first time, is left to `keep_up`."""
    with server().client() as client:
        follow(client, patience=0)


def keep_up() -> bool:
    """Bring what was committed, the first time everything; remove what no question sees any more.

    False when there was nothing to bring.
    """
    with server().client() as client:
        before = written(client)
        if before is None or not follow(client, PATIENCE_SECONDS):
            build(client, PATIENCE_SECONDS)
        tidy(client, PATIENCE_SECONDS)
        now = written(client)
    return before is None or now is None or before.step != now.step


def read_anew() -> None:
    """Have all tables read from PostgreSQL again; questions go on with those before meanwhile."""
    with server().client() as client:
        build(client, PATIENCE_SECONDS)


def age() -> float | None:
    """Seconds since something was written; None before anything was."""
    with server().client() as client:
        found = written(client)
    return found.age if found else None


def lag(cursor: CursorWrapper) -> float | None:
    """Age of the oldest change that ClickHouse has not; None before it has anything."""
    with server().client() as client:
        found = written(client)
    return oldest_unseen_change(cursor, found.state) if found else None


def copies() -> tuple[Duck, Duck] | None:
    """What PostgreSQL has, and what ClickHouse has of the same moment, in memory to be compared.

    None where ClickHouse has nothing, or too much has changed since.
    """
    with server().client() as client, alone(FOLLOWING, PATIENCE_SECONDS) as cursor:
        if not follow_to(client, cursor):
            return None
        now = written(client)
        assert now is not None  # noqa: S101 - it was followed
        ours = empty_copy(settings.CIPHERMARK_ANALYTICS_MEMORY)
        for table in TABLES:
            _fetch(client, now, table, ours)
        return filled_copy(cursor), ours


def _fetch(client: Client, now: Written, table: Table, into: Duck) -> None:
    """The rows that are seen; of what is never removed those that runs still have."""
    select = f"SELECT {table.names} FROM ({seen(table.name, now.shape)})"  # noqa: S608 - constants
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(client.raw_query(select, parameters_of(now), fmt="Parquet"))
        file.flush()
        rows = f"SELECT {table.names} FROM read_parquet('{file.name}')"  # noqa: S608 - constants
        into.execute(table.insert_from(rows))
    if table.name in _UNUSED:
        into.execute(_UNUSED[table.name])
