"""Run the queries of comparisons in ClickHouse instead of DuckDB.

The tables in ClickHouse are updated a few seconds after PostgreSQL. sqlglot translates the
statements from the DuckDB dialect. Of several rows with the same key, ReplacingMergeTree returns
only the row with the highest `version`, or no row if `gone` is 1 in that row.
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar
from zlib import crc32

import clickhouse_connect
import orjson
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError, OperationalError
from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper
from sqlglot import exp, parse_one
from sqlglot.dialects.clickhouse import ClickHouse
from sqlglot.generators.clickhouse import ClickHouseGenerator

from compare import engine
from compare.copy_tables import OF_RUNS, SHARED, Table
from compare.engine import Rows, Seen, Session, changes_since
from core.outage import AnalyticsUnavailable
from runs.models import Run

logger = logging.getLogger(__name__)

SETTINGS = {
    "final": 1,
    "join_use_nulls": 1,
    "group_by_use_nulls": 1,
    "prefer_column_name_to_alias": 1,
    "joined_subquery_requires_alias": 0,
    "allow_suspicious_low_cardinality_types": 1,
    "precise_float_parsing": 1,
    "enable_materialized_cte": 1,
    "max_query_size": 2**26,
    "max_ast_elements": 2**22,
    "max_expanded_ast_elements": 2**22,
}
"""Settings that make ClickHouse evaluate queries as DuckDB does. The last three settings raise size
limits for queries with tens of thousands of host IDs."""

TYPES = {
    "INTEGER": "Int32",
    "BIGINT": "Int64",
    "HUGEINT": "Int128",
    "UTINYINT": "UInt8",
    "DOUBLE": "Float64",
    "VARCHAR": "LowCardinality(String)",
    "MAP(VARCHAR, VARCHAR)": "Map(String, Nullable(String))",
}

NULLABLE = frozenset({"started", "negotiated", "cpu_seconds_per_gb", "uncertainty"})

KEYS = {
    "run": "id",
    "result": "series, run",
    "level": "run, tool, family",
    "speed_index": "run, tool",
    "environment": "tool, id",
    "series_of_set": "series_set, series",
}

TABLES = (*OF_RUNS, *SHARED)
# Prefix of table names: each version of the program has its own tables.
OF_PROGRAM = f"ciphermark_{crc32(repr(TABLES).encode())}_"

STATE = f"{OF_PROGRAM}state"
CREATE_STATE = f"""
CREATE TABLE IF NOT EXISTS {STATE} (
    version UInt64, snapshot String, database String, at DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY at TTL at + INTERVAL 7 DAY
"""
LAST_STATE = f"""
SELECT snapshot, database, dateDiff('second', at, now()) FROM {STATE}
ORDER BY at DESC, version DESC LIMIT 1
"""  # noqa: S608 - constants
STATE_SECONDS = 3600  # rewrite the state after this time even without changes, before it expires


def follow(rebuild: bool = False) -> None:
    """Write to ClickHouse all runs that changed since the last call.

    With `rebuild`, create all tables again and write all runs. Raise `AnalyticsUnavailable` while
    another process writes to ClickHouse.
    """
    with client() as writer, Run.objects.snapshot(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(3100), pg_current_xact_id()::text")
        is_alone, version = cursor.fetchone()
        if not is_alone:
            raise AnalyticsUnavailable("Another process is writing to ClickHouse")
        step = Step(writer, cursor, int(version))
        writer.command(CREATE_STATE)
        rows = writer.query(LAST_STATE).result_rows
        seen, age = (Seen(*rows[0][:2]), rows[0][2]) if rows else (None, 0)
        now, runs = changes_since(cursor, seen)
        if rebuild or runs is None or age > engine.USABLE_SECONDS:
            step.everything(now)
        elif runs or age > STATE_SECONDS:
            step.write(runs)
            step.finish(now)


@dataclass
class Step:
    """Write one update to the tables whose names begin with `prefix`.

    `version`: ID of the current PostgreSQL transaction. Each later update has a higher version.
    """

    client: Client
    cursor: CursorWrapper
    version: int
    prefix: str = OF_PROGRAM

    def everything(self, now: Seen) -> None:
        self.prefix = f"new_{OF_PROGRAM}"
        for table in TABLES:
            self.client.command(f"DROP TABLE IF EXISTS {self.prefix}{table.name}")
            self.client.command(_create(table, self.prefix))
        self.cursor.execute(engine.ALL_RUNS)
        self.write([run for (run,) in self.cursor.fetchall()])
        for name in (table.name for table in TABLES):
            old, new = f"{OF_PROGRAM}{name}", f"{self.prefix}{name}"
            self.client.command(f"CREATE TABLE IF NOT EXISTS {old} AS {new}")
            self.client.command(f"EXCHANGE TABLES {old} AND {new}")
            self.client.command(f"DROP TABLE {new}")
        self.finish(now)

    def finish(self, now: Seen) -> None:
        row = [self.version, now.snapshot, now.database]
        self.client.insert(STATE, [row], ["version", "snapshot", "database"])

    def write(self, runs: list[int]) -> None:
        for first in range(0, len(runs), engine.RUNS_AT_ONCE):
            batch = runs[first : first + engine.RUNS_AT_ONCE]
            for table in OF_RUNS:
                self._insert(table, batch)
                self._delete_unreplaced(table, batch)
            for table in SHARED:
                text = translated(table.missing, frozenset(), self.prefix)
                if missing := [key for (key,) in self.client.query(text).result_rows]:
                    self._insert(table, missing)

    def _insert(self, table: Table, keys: list[int]) -> None:
        self.cursor.execute(table.select, [keys])
        texts = self.cursor.fetchone()
        versions = orjson.dumps([self.version] * len(orjson.loads(texts[0]))).decode()
        columns = dict(zip((*table.columns, "version"), (*texts, versions), strict=True))
        block = ", ".join(f'"{name}": {text}' for name, text in columns.items())
        name = f"{self.prefix}{table.name}"
        self.client.raw_insert(name, list(columns), f"{{{block}}}", fmt="JSONColumns")

    def _delete_unreplaced(self, table: Table, runs: list[int]) -> None:
        name = f"{self.prefix}{table.name}"
        left = f"SELECT * FROM {name} WHERE {table.key} IN {runs} AND version < {self.version}"  # noqa: S608 - numbers
        gone = f"{self.version} AS version, 1 AS gone"
        self.client.command(f"INSERT INTO {name} SELECT * REPLACE ({gone}) FROM ({left})")  # noqa: S608


def _create(table: Table, prefix: str) -> str:
    columns = "".join(
        f'"{name}" {f"Nullable({TYPES[kind]})" if name in NULLABLE else TYPES[kind]}, '
        for name, kind in table.columns.items()
    )
    return f"""
        CREATE TABLE {prefix}{table.name} ({columns} version UInt64, gone UInt8 DEFAULT 0)
        ENGINE = ReplacingMergeTree(version, gone) ORDER BY ({KEYS[table.name]})
    """


FAULTS = {
    "UNKNOWN_TABLE": "The results are being prepared",
    "MEMORY_LIMIT_EXCEEDED": "This query needs more memory than ClickHouse has",
    "": "ClickHouse rejected the query; see the log",
}

_own = threading.local()


@contextmanager
def client() -> Iterator[Client]:
    """Yield this thread's ClickHouse client; raise `AnalyticsUnavailable` if ClickHouse fails."""
    url = settings.CIPHERMARK_ANALYTICS_URL
    try:
        if not hasattr(_own, "client"):
            _own.client = clickhouse_connect.get_client(
                dsn=url,
                secure=url.startswith("clickhouses:"),
                settings=SETTINGS,
                connect_timeout=2,
                send_receive_timeout=60,
                form_encode_query_params=True,  # 200 names would exceed the length of a URL
            )
        yield _own.client
    except DatabaseError as error:
        logger.warning("ClickHouse: %s", error)
        vars(_own).clear()
        words = next(words for code, words in FAULTS.items() if code in str(error))
        if isinstance(error, OperationalError):
            words = "ClickHouse is not reachable"
        raise AnalyticsUnavailable(words) from error


@contextmanager
def analytics() -> Iterator[Session]:
    with client() as session:

        def execute(statement: str, parameters: Mapping[str, Any]) -> Rows:
            kinds = {name: _kind(value) for name, value in parameters.items()}
            text = translated(statement, frozenset(kinds.items()))
            texts = {name: value for name, value in parameters.items() if kinds[name] != NUMBERS}
            for name in kinds.keys() - texts:
                numbers = orjson.dumps(parameters[name]).decode()
                text = text.replace(f"{{{name}: {NUMBERS}}}", numbers)
            return list(map(tuple, session.query(text, texts).result_rows))

        yield Session(execute)


NUMBERS = "numbers"
"""Type name of numeric parameters. Numeric values become literals in the SQL statement."""


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "String"
    has_texts = isinstance(value, list | tuple) and any(isinstance(entry, str) for entry in value)
    return "Array(String)" if has_texts else NUMBERS


@lru_cache(maxsize=1_000)  # a translation takes 10 ms
def translated(statement: str, kinds: frozenset[tuple[str, str]], prefix: str = OF_PROGRAM) -> str:
    """Translate a statement from the DuckDB dialect to the ClickHouse dialect.

    `kinds`: name and ClickHouse type of each parameter. `prefix`: prefix of the table names.
    """
    tree, kind_of = parse_one(statement, read="duckdb"), dict(kinds)
    if isinstance(tree, exp.Create):
        tree.set("replace", True)
    for node in list(tree.find_all(exp.Placeholder)):
        node.set("kind", kind_of[node.name])
    for select in list(tree.find_all(exp.Select)):
        _unnest_in_step(select)
    for cte in tree.find_all(exp.CTE):
        cte.set("materialized", True)  # otherwise each reference recomputes it
    names = {table.name for table in TABLES}
    for table in list(tree.find_all(exp.Table)):
        if table.name in names:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(table.alias_or_name)))
            table.set("this", exp.to_identifier(f"{prefix}{table.name}"))
    return tree.sql(dialect=_Translated)


def _unnest_in_step(select: exp.Select) -> None:
    """Rewrite a SELECT that unnests several lists.

    DuckDB unnests the lists in parallel. ClickHouse's `arrayJoin` would return all combinations.
    """
    lists = [node for column in select.expressions for node in column.find_all(exp.Explode)]
    if len(lists) < 2:
        return
    zipped = exp.func("arrayZip", *(node.this.copy() for node in lists))
    for place, node in enumerate(lists, start=1):
        element = exp.Explode(this=zipped.copy())
        node.replace(exp.func("tupleElement", element, exp.convert(place)))


class _Generator(ClickHouseGenerator):
    TRANSFORMS: ClassVar = {
        **ClickHouseGenerator.TRANSFORMS,
        exp.ArraySort: lambda self, node: self.func("arraySort", node.this),
        exp.BitwiseAnd: lambda self, node: self.func("bitAnd", node.this, node.expression),
        exp.IntDiv: lambda self, node: self.func("intDiv", node.this, node.expression),
        exp.MapKeys: lambda self, node: self.func("mapKeys", node.this),
    }

    def bracket_sql(self, expression: exp.Bracket) -> str:
        if expression.this.name == "tags":
            return super().bracket_sql(expression)
        (place,) = self.bracket_offset_expressions(expression)
        return self.func("arrayElementOrNull", expression.this, place)

    def join_sql(self, expression: exp.Join, join_op: str | None = None) -> str:
        if expression.kind in ("SEMI", "ANTI") and not expression.side:
            expression = expression.copy()
            expression.set("side", "LEFT")
        return super().join_sql(expression, join_op)


class _Translated(ClickHouse):
    Generator = _Generator
