"""A fleet as a snapshot of the analytics copy: Parquet files from which web processes start.

Each host is a copy of a machine that the program has processed, faster or slower by chance
(log-normal), and so is each result. All is decided by hashes of numbers, in DuckDB; the same seed
makes the same fleet.
"""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from results.analytics.copy import Duck
from results.analytics.shared_snapshots import STATE
from results.analytics.snapshot import VERSION
from results.analytics.tables import (
    CPU_BOUND_INDEX,
    LEVEL,
    RESULT,
    RUN,
    SET_OF_RUN,
    SPEED_INDEX,
    TABLES,
    Table,
)
from results.analytics.unseen_changes import State
from tests.bench.fleet.bodies import MACHINE_SCATTER, TRY_SCATTER

SEED = 2026
OLDER_RUNS = 10
"""One host in so many keeps the run from before its upgrades: half of them have had one."""

WEEK_MICROSECONDS = 7 * 24 * 3600 * 10**6

_FASTER = {"median", "cpu_bound_throughput", "level", "cpu_bound_level", "index"}
_SLOWER = {"cpu_seconds_per_gb"}

_MACROS = (
    """CREATE OR REPLACE MACRO uniform(seed, number, salt) AS
        (hash(seed, number, salt)::DOUBLE + 1) / 18446744073709551617::DOUBLE""",
    """CREATE OR REPLACE MACRO normal(seed, number, salt) AS
        sqrt(-2 * ln(uniform(seed, number, salt || ' radius')))
        * cos(2 * pi() * uniform(seed, number, salt || ' angle'))""",
)

_PROTOTYPES = """
CREATE OR REPLACE TEMP TABLE prototype AS
SELECT id, dense_rank() OVER (ORDER BY host) - 1 AS machine,
    row_number() OVER (PARTITION BY host ORDER BY moment DESC) > 1 AS older
FROM run
"""

_COPIES = f"""
CREATE OR REPLACE TEMP TABLE copied AS
WITH planned AS (
    SELECT number, number >= $hosts AS older,
        CASE WHEN older THEN (number - $hosts) * {OLDER_RUNS} ELSE number END AS host,
        (hash($seed, host, 'machine') % $machines)::BIGINT AS machine
    FROM range($hosts + $hosts // {OLDER_RUNS}) r (number)
)
SELECT (r.number + 1)::INTEGER AS id, (r.host + 1)::INTEGER AS host, p.id AS prototype,
    exp({MACHINE_SCATTER} * normal($seed, r.host, 'host')) AS speed,
    (uniform($seed, r.host, 'start') * {WEEK_MICROSECONDS})::BIGINT AS earlier
FROM planned r JOIN prototype p USING (machine, older)
"""  # noqa: S608 - constants
"""Of each run of the fleet its prototype, the host's speed, and how long before it it began."""


def write(duck: Duck, state: State, hosts: int, folder: Path, seed: int = SEED) -> Path:
    """The fleet made of the prototypes in this copy, as a snapshot in the folder."""
    for macro in _MACROS:
        duck.execute(macro)
    duck.execute(_PROTOTYPES)
    ((machines,),) = duck.execute("SELECT count(DISTINCT machine) FROM prototype").fetchall()
    duck.execute(_COPIES, {"hosts": hosts, "seed": seed, "machines": machines})
    path = folder / f"{VERSION}-{time.time_ns()}"
    path.mkdir(parents=True)
    hashes = {}
    for table in TABLES:
        file = path / f"{table.name}.parquet"
        rows = " UNION ALL ".join(_rows(duck, table, seed))
        duck.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")
        with file.open("rb") as content:
            hashes[table.name] = hashlib.file_digest(content, "sha256").hexdigest()
    facts = {**asdict(state), "made_at": time.time(), "hashes": hashes}
    (path / STATE).write_text(json.dumps(facts))
    return path


def _rows(duck: Duck, table: Table, seed: int) -> Iterator[str]:
    """SELECTs of a table's rows; those of results in the order of a snapshot, by series."""
    if table is RESULT:
        found = duck.execute("SELECT DISTINCT series FROM result ORDER BY series").fetchall()
        for (series,) in found:
            scatter = f"exp({TRY_SCATTER} * normal({seed}, c.id, 'series {series}'))"
            yield f"{_copies(table, f'(c.speed * {scatter})')} WHERE x.series = {series}"
    elif table in (RUN, LEVEL, SPEED_INDEX, CPU_BOUND_INDEX, SET_OF_RUN):
        yield _copies(table, "c.speed")
    else:
        yield f"SELECT {table.names} FROM {table.name}"  # noqa: S608 - constants


def _copies(table: Table, factor: str) -> str:
    columns = ", ".join(f'{_column(table, name, factor)} AS "{name}"' for name in table.columns)
    key = "id" if table is RUN else "run"
    return f"SELECT {columns} FROM copied c JOIN {table.name} x ON x.{key} = c.prototype"  # noqa: S608


def _column(table: Table, name: str, factor: str) -> str:
    if name in ("run", "id"):
        return "c.id"
    if name == "host":
        return "c.host"
    if name == "started":
        return "x.started - c.earlier"
    sign = "*" if name in _FASTER else "/" if name in _SLOWER else None
    own = f'x."{name}"'
    return f"{own} {sign} {factor}" if sign else own
