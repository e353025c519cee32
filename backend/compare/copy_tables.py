"""Define the tables of the analytics copy, and transfer their rows from PostgreSQL.

Rows are transferred as one JSON text per column, which is fast and preserves doubles exactly. Each
result has low-confidence bits: one for a disturbed run, and one for each noisy metric.

Thousands of runs measured the same series, so each set of series (`series_set`) is stored once. A
query first finds the sets with the requested series, and then the runs by their set.
"""

from dataclasses import dataclass

from cipherspeed.summary import NOISY_MINIMUM_TRIES, NOISY_SPREAD
from runs.models.dimension import DIMENSIONS, OF_LIBRARIES
from runs.models.run import COUNTED, DISTURBED_TEXT

DISTURBED_RUN, NOISY, NOISY_CPU_COST = 1, 2, 4

DOUBTS = f"""(
        (r.conditions <> '[]'::jsonb)::int * {DISTURBED_RUN} + m.noisy::int * {NOISY}
        + coalesce(
            m.n >= {NOISY_MINIMUM_TRIES} AND m.cpu_seconds_per_gb_spread > {NOISY_SPREAD}, false
        )::int * {NOISY_CPU_COST}
    )::smallint"""
"""SQL expression of the low-confidence bits of a measurement (m) in a run (r)."""


UNDATED = -(2**62)
"""Start of an undated run in microseconds, earlier than any other."""

RUNS_BEYOND = 2**32
"""Number greater than any run's key. Start times this number, plus the key, orders runs."""


@dataclass(frozen=True)
class Table:
    """Define a table of the copy, with its columns and their types in DuckDB.

    `source` selects its rows for an array of run keys. For rows that runs share, `missing`
    selects the keys that the copy lacks.
    """

    name: str
    columns: dict[str, str]
    source: str
    key: str = "run"
    missing: str = ""

    @property
    def create(self) -> str:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in self.columns.items())
        return f'CREATE TABLE "{self.name}" ({columns})'

    @property
    def select(self) -> str:
        """Return the statement that reads the rows of some keys, as a JSON text per column."""
        columns = ", ".join(f"coalesce(json_agg({name}), '[]')::text" for name in self.columns)
        return f"SELECT {columns} FROM ({self.source}) rows"  # noqa: S608 - constants

    @property
    def insert(self) -> str:
        """Return the statement that stores those texts as rows."""
        rows = ", ".join(
            f"""unnest(from_json(?, '["{kind}"]'))""" for kind in self.columns.values()
        )
        return f'INSERT INTO "{self.name}" SELECT {rows}'

    @property
    def delete(self) -> str:
        """Return the statement that deletes the rows of some runs."""
        return f'DELETE FROM "{self.name}" WHERE "{self.key}" IN (SELECT unnest(?::INTEGER[]))'  # noqa: S608


_SERIES_SET = """hash_array_extended(ARRAY(
        SELECT m.series_id::bigint << 32 | coalesce(m.negotiated_id, 0) FROM runs_measurement m
        WHERE m.run_id = r.id AND m.median IS NOT NULL ORDER BY m.series_id
    ), 0)"""
_MICROSECONDS = "(extract(epoch FROM r.started_at) * 1000000)::bigint"

RUN = Table(
    "run",
    {
        "id": "INTEGER",
        "host": "INTEGER",
        "environment": "INTEGER",
        "source": "VARCHAR",
        "verdict": "VARCHAR",
        "disturbed": "VARCHAR",
        "started": "BIGINT",
        "moment": "HUGEINT",
        "tags": "MAP(VARCHAR, VARCHAR)",
        "series_set": "BIGINT",
    },
    f"""
    SELECT r.id, r.host_id AS host, r.environment_id AS environment, r.source,
        r.acceleration AS verdict, {DISTURBED_TEXT} AS disturbed, {_MICROSECONDS} AS started,
        (coalesce({_MICROSECONDS}, {UNDATED})::numeric * {RUNS_BEYOND} + r.id)::text AS moment,
        r.tags, {_SERIES_SET} AS series_set
    FROM runs_run r WHERE r.id = ANY(%s) AND {COUNTED}
    """,  # noqa: S608 - constants
    key="id",
)
"""Visible runs. `started`: microseconds of Unix time. `moment` orders them, latest last.

Runs with plausible results for the same series share a `series_set`.
"""

RESULT = Table(
    "result",
    {
        "run": "INTEGER",
        "series": "INTEGER",
        "negotiated": "INTEGER",
        "median": "DOUBLE",
        "cpu_seconds_per_gb": "DOUBLE",
        "flags": "UTINYINT",
    },
    f"""
    SELECT m.run_id AS run, m.series_id AS series, m.negotiated_id AS negotiated, m.median,
        m.cpu_seconds_per_gb, {DOUBTS} AS flags
    FROM runs_measurement m JOIN runs_run r ON r.id = m.run_id
    WHERE m.run_id = ANY(%s) AND m.median IS NOT NULL AND {COUNTED}
    """,  # noqa: S608 - constants
)
"""Plausible results."""

LEVEL = Table(
    "level",
    {"run": "INTEGER", "tool": "VARCHAR", "family": "VARCHAR", "level": "DOUBLE"},
    f"""
    SELECT b.run_id AS run, b.tool, b.family, b.level
    FROM runs_baselinelevel b JOIN runs_run r ON r.id = b.run_id
    WHERE b.run_id = ANY(%s) AND {COUNTED}
    """,  # noqa: S608 - constants
)
"""Baseline levels in bytes per second."""

SPEED_INDEX = Table(
    "speed_index",
    {
        "run": "INTEGER",
        "tool": "VARCHAR",
        "index": "DOUBLE",
        "uncertainty": "DOUBLE",
        "family": "VARCHAR",
    },
    f"""
    SELECT i.run_id AS run, i.tool, i.index, i.uncertainty,
        CASE jsonb_array_length(i.families) WHEN 1 THEN i.families ->> 0 ELSE '' END AS family
    FROM runs_runspeedindex i JOIN runs_run r ON r.id = i.run_id
    WHERE i.run_id = ANY(%s) AND {COUNTED}
    """,  # noqa: S608 - constants
)
"""Speed indices; `family` is the only baseline, empty for several."""

_OF_TOOL = ", ".join(
    f"CASE tool WHEN 'ssh' THEN coalesce({OF_LIBRARIES[name]}_id, {name}_id) ELSE {name}_id END"
    f" AS {name}"
    if name in OF_LIBRARIES
    else f"{name}_id AS {name}"
    for name in DIMENSIONS
)
ENVIRONMENT = Table(
    "environment",
    {
        "id": "INTEGER",
        "tool": "VARCHAR",
        "seen_as": "BIGINT",
        **dict.fromkeys(DIMENSIONS, "INTEGER"),
    },
    f"""
    SELECT id, tool, CASE tool WHEN 'ssh' THEN coalesce(ssh_environment, id) ELSE id END AS seen_as,
        {_OF_TOOL}
    FROM runs_environment, unnest(ARRAY['ssh', 'openssl']) AS tool WHERE id = ANY(%s)
    """,  # noqa: S608 - constants
    missing="""
    SELECT DISTINCT environment FROM run WHERE environment NOT IN (SELECT id FROM environment)
    """,
)
"""Environments by tool; for ssh with the library that ssh uses.

`seen_as` is equal for environments that do not differ for the tool.
"""

SERIES_OF_SET = Table(
    "series_of_set",
    {"series_set": "BIGINT", "series": "INTEGER", "negotiated": "INTEGER"},
    f"""
    SELECT {_SERIES_SET} AS series_set, m.series_id AS series, m.negotiated_id AS negotiated
    FROM runs_run r JOIN runs_measurement m ON m.run_id = r.id
    WHERE r.id = ANY(%s) AND m.median IS NOT NULL
    """,  # noqa: S608 - constants
    missing="""
    SELECT min(id) FROM run WHERE series_set NOT IN (SELECT series_set FROM series_of_set)
    GROUP BY series_set
    """,
)
"""Series of each set, with negotiated algorithms, selected by the key of a run with that set."""

OF_RUNS = (RESULT, LEVEL, SPEED_INDEX, RUN)
SHARED = (ENVIRONMENT, SERIES_OF_SET)
"""Tables with rows that runs share. The rows never change; unused rows are ignored."""
