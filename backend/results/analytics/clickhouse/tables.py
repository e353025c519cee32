"""The tables of the copy in ClickHouse, and which of their rows a question sees.

Rows are only ever added, each with the `since` of the step that brought it. A step that changes or
removes a run says so in `ended`: rows of the run from before are no longer seen. So a question that
began before the step goes on with what it saw, and one that begins after it sees all of the step.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from results.analytics.tables import (
    OF_RUNS,
    RUN,
    TABLES,
    VERSION,
    Table,
)
from results.analytics.unseen_changes import State

TYPES = {
    "INTEGER": "Int32",
    "BIGINT": "Int64",
    "HUGEINT": "Int128",
    "UTINYINT": "UInt8",
    "DOUBLE": "Float64",
    "BOOLEAN": "Bool",
    "VARCHAR": "LowCardinality(String)",
    "MAP(VARCHAR, VARCHAR)": "Map(String, Nullable(String))",
}
"""DuckDB's type of a column -> ClickHouse's."""

NULLABLE = frozenset(
    {
        "started",
        "negotiated",
        "cpu_seconds_per_gb",
        "uncertainty",
    }
)

_ORDER = {"run": "id", "environment": "tool, id", "result": "series, run"}
"""Table -> what its rows lie in order of: a question reads those of its series. Else by run."""

STATES = f"ciphermark_{VERSION}_state"
ENDED = f"ciphermark_{VERSION}_ended"

ONCE = "non_replicated_deduplication_window = 1000"
"""An insert with a token that is known already is none."""

CREATE_STATES = f"""
CREATE TABLE IF NOT EXISTS {STATES} (
    generation UInt64, step UInt64, what LowCardinality(String), epoch String, snapshot String,
    at DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY (generation, step)
SETTINGS {ONCE}
"""
"""Of each step that it was `begun` and `done`, or that it `failed`: its rows are never seen."""

CREATE_ENDED = f"""
CREATE TABLE IF NOT EXISTS {ENDED} (generation UInt64, step UInt64, run Int32)
ENGINE = MergeTree ORDER BY (generation, run)
SETTINGS {ONCE}
"""
"""Runs whose rows from before a step are not seen since."""

_FAILED = f"SELECT generation, step FROM {STATES} WHERE what = 'failed'"  # noqa: S608
WRITTEN = f"""
SELECT generation, max(step), argMax((epoch, snapshot), step),
    dateDiff('second', max(at), now()), (SELECT count() FROM {ENDED}),
    (SELECT groupArray((generation, step)) FROM ({_FAILED}))
FROM {STATES} WHERE what = 'done' AND (generation, step) NOT IN ({_FAILED})
GROUP BY generation ORDER BY generation DESC LIMIT 1
"""  # noqa: S608 - constants


class Shape(NamedTuple):
    """What the text of a statement depends on: the tables, and whether rows must not be seen."""

    generation: int
    has_failed: bool = False
    has_ended: bool = False


@dataclass(frozen=True)
class Written:
    """What ClickHouse has: the last step of the newest generation of tables, and its state.

    A generation is all tables, read anew. `age`: seconds since that step. `has_ended`: there are
    rows that must not be seen. `failed`: steps that were cut off.
    """

    generation: int
    step: int
    state: State
    age: float = 0.0
    has_ended: bool = False
    failed: tuple[int, ...] = ()

    @property
    def shape(self) -> Shape:
        """Of statements about it."""
        return Shape(self.generation, bool(self.failed), self.has_ended)

    @classmethod
    def of_row(cls, row: Any) -> "Written":
        """Of `WRITTEN`."""
        generation, step, state, age, ended, failed = row
        own = sorted(step for of, step in failed if of == generation)
        return cls(generation, step, State(*state), age, bool(ended), tuple(own))


def name_of(table: str, generation: int) -> str:
    """In ClickHouse."""
    return f"ciphermark_{VERSION}_{generation}_{table}"


def create(table: Table, generation: int) -> str:
    """The statement that makes a table of a generation."""
    columns = ", ".join(
        f'"{name}" {_type(name, kind)}{_made(table, name)}' for name, kind in table.types.items()
    )
    order = _ORDER.get(table.name, next(iter(table.columns)))
    return f"""
        CREATE TABLE {name_of(table.name, generation)} ({columns}, since UInt64)
        ENGINE = MergeTree ORDER BY ({order}) SETTINGS {ONCE}
    """


def _type(name: str, kind: str) -> str:
    own = TYPES[kind]
    return f"Nullable({own})" if name in NULLABLE else own


def _made(table: Table, name: str) -> str:
    if name not in table.made:
        return ""
    expression = table.made[name][1].replace("::HUGEINT", "::Int128")
    return f" DEFAULT {expression}"


COLUMNS = {table.name: ", ".join(f't."{name}"' for name in table.types) for table in TABLES}

KEY_OF_RUNS = {
    RUN.name: "id",
    **{table.name: "run" for table in OF_RUNS},
}
"""Tables of what changes -> the column that has the run; what the others have never does."""


def seen(table: str, shape: Shape) -> str:
    """SELECT of the rows of a table that are seen after a step (`parameters_of`)."""
    rows = f"SELECT {COLUMNS[table]} FROM {name_of(table, shape.generation)} t"  # noqa: S608
    conditions = ["t.since <= {step: UInt64}"]
    before = "e.generation = {generation: UInt64} AND e.step <= {step: UInt64}"
    if shape.has_failed:
        conditions.append("t.since NOT IN {failed: Array(UInt64)}")
        before += " AND e.step NOT IN {failed: Array(UInt64)}"
    key = KEY_OF_RUNS.get(table)
    if shape.has_ended and key is not None:
        ended = f"FROM {ENDED} e WHERE {before}"
        rows += f""" LEFT JOIN (
            SELECT e.run AS run, max(e.step) AS step {ended} GROUP BY e.run
        ) e ON e.run = t.{key}"""
        conditions.append("t.since >= coalesce(e.step, 0)")
    return f"{rows} WHERE {' AND '.join(conditions)}"


def parameters_of(written: Written) -> dict[str, Any]:
    """Those that `seen` has."""
    return {
        "generation": written.generation,
        "step": written.step,
        "failed": list(written.failed),
    }
