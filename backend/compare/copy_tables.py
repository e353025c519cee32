"""Define the tables of the analytics copy, and the SQL that reads the rows from PostgreSQL.

A series is a configuration of a tool, such as a cipher with a block size. Thousands of runs measure
the same set of series. `series_of_set` therefore stores each set only once. A query first selects
the sets that contain the requested series, and then the runs by `series_set`.
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
"""SQL expression for the low-confidence bits of measurement `m` in run `r`. `DISTURBED_RUN`: the
run was disturbed. `NOISY`: the throughput is noisy. `NOISY_CPU_COST`: the CPU time is noisy."""


UNDATED = -(2**62)
"""Substitute for an unknown start time, in microseconds of Unix time. Earlier than any start
time."""

RUNS_BEYOND = 2**32
"""Number greater than any primary key of a run. The expression start time * `RUNS_BEYOND` + primary
key therefore sorts runs by start time, and by key if start times are equal."""


@dataclass(frozen=True)
class Table:
    """Define a table of the analytics copy.

    `columns`: DuckDB type by column name. `source`: PostgreSQL query for the rows with the given
    keys. `missing`: query for the keys of rows that the copy lacks. Only tables in `SHARED` need
    `missing`.
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
        """Return SQL that reads each column as a JSON array: fast, and exact for doubles."""
        columns = ", ".join(f"coalesce(json_agg({name}), '[]')::text" for name in self.columns)
        return f"SELECT {columns} FROM ({self.source}) rows"  # noqa: S608 - constants

    @property
    def insert(self) -> str:
        rows = ", ".join(
            f"""unnest(from_json(?, '["{kind}"]'))""" for kind in self.columns.values()
        )
        return f'INSERT INTO "{self.name}" SELECT {rows}'

    @property
    def delete(self) -> str:
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
"""Visible runs. `started`: microseconds of Unix time. `moment`: number that increases with the
start time. `series_set`: hash of the series with a plausible result and of the negotiated
algorithms."""

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
"""Plausible results of visible runs. `median`: bytes per second. `flags`: bits of `DOUBTS`."""

LEVEL = Table(
    "level",
    {"run": "INTEGER", "tool": "VARCHAR", "family": "VARCHAR", "level": "DOUBLE"},
    f"""
    SELECT b.run_id AS run, b.tool, b.family, b.level
    FROM runs_baselinelevel b JOIN runs_run r ON r.id = b.run_id
    WHERE b.run_id = ANY(%s) AND {COUNTED}
    """,  # noqa: S608 - constants
)
"""Throughput of the baseline families in each run, in bytes per second."""

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
"""One row per environment and tool. In rows for ssh, the OpenSSL columns describe the library that
ssh uses. Environments have the same `seen_as` if they differ only in properties that do not affect
the tool."""

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
"""Series and negotiated algorithms of each set. `source` reads a set from any run that measured the
set. The keys for `source` are therefore primary keys of runs."""

OF_RUNS = (RESULT, LEVEL, SPEED_INDEX, RUN)
SHARED = (ENVIRONMENT, SERIES_OF_SET)
"""Tables in which several runs refer to the same row. Rows are never changed or deleted."""
