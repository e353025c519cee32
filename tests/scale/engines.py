"""The engines that answer, each started on the snapshot of a fleet and held to so much memory.

From then on the program's own questions go there. Each says how many bytes its own copy has.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from django.conf import settings

from results.analytics.clickhouse.dialect import SETTINGS
from results.analytics.clickhouse.server import server
from results.analytics.clickhouse.tables import STATES, create, name_of
from results.analytics.copy import empty_copy
from results.analytics.engine import Copy, engine, questions
from results.analytics.shared_snapshots import STATE
from results.analytics.tables import TABLES
from results.analytics.unseen_changes import State


def in_memory(snapshot: Path, memory_gb: int) -> int:
    """A web process with its copy, which starts from the snapshot as it always does."""
    settings.ANALYTICS_DIR = snapshot.parent
    settings.CIPHERMARK_ANALYTICS_MEMORY = f"{memory_gb}GB"
    with questions() as ask:
        ((size,),) = ask("SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()", {})
    return int(size)


def from_parquet(snapshot: Path, memory_gb: int) -> int:
    """The same, but that each question reads the files of the snapshot."""
    duck = empty_copy(f"{memory_gb}GB")
    for table in TABLES:
        made = "".join(f', {sql} AS "{name}"' for name, (_, sql) in table.made.items())
        rows = f"SELECT *{made} FROM read_parquet('{snapshot / table.name}.parquet')"  # noqa: S608
        duck.execute(f'DROP TABLE "{table.name}"')
        duck.execute(f'CREATE VIEW "{table.name}" AS {rows}')
    engine().copy = Copy(duck, _state(snapshot))
    return 0


def clickhouse_folder(snapshot: Path) -> Path:
    """Where ClickHouse has its tables; a process can have one such folder."""
    return snapshot.parent / "clickhouse"


def clickhouse(snapshot: Path, memory_gb: int) -> int:
    """ClickHouse in this process (chdb), its tables filled from the snapshot's files."""
    settings.CIPHERMARK_ANALYTICS_URL = f"chdb://{clickhouse_folder(snapshot)}"
    SETTINGS["max_memory_usage"] = memory_gb * 10**9
    with server().client() as client:
        for table in TABLES:
            name = name_of(table.name, generation=1)
            rows = f"SELECT {table.names}, 1 FROM file('{snapshot / table.name}.parquet')"  # noqa: S608
            client.command(create(table, generation=1))
            client.command(f"INSERT INTO {name} ({table.names}, since) {rows}")
        state = _state(snapshot)
        names, row = ["generation", "step", "what", "epoch", "snapshot"], [1, 1, "done"]
        client.insert(STATES, [[*row, state.epoch, state.snapshot]], column_names=names)
        parts = (
            "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table LIKE 'ciphermark%'"
        )
        return int(client.query(parts).result_rows[0][0])


def _state(snapshot: Path) -> State:
    facts = json.loads((snapshot / STATE).read_text())
    return State(facts["epoch"], facts["snapshot"])


MOST_HOSTS = {"DuckDB on Parquet": 1_000_000}
"""It takes minutes for more of them, and says no more."""

ENGINES: Mapping[str, Callable[[Path, int], int]] = {
    "DuckDB in memory": in_memory,
    "DuckDB on Parquet": from_parquet,
    "ClickHouse": clickhouse,
}
