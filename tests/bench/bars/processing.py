"""2: documents turned into rows by one worker, against COPY of the same rows."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import psycopg
from django.db.models import Model
from psycopg import sql
from psycopg.types.json import Jsonb

from ingest.arrival.acceptance import accept_run
from ingest.edits.recompute import delete_runs
from ingest.tasks import process_run
from store.models import Environment, Host, Run
from tests.bench.figures import Figure, Pair, at_least
from tests.bench.fleet.copying import dsn
from tests.bench.fleet.documents import assembled, without_measurements
from tests.bench.fleet.plan import Plan, PlannedRun
from tests.bench.fleet.prototypes import DERIVED
from tests.bench.fleet.size import SIZES, Size
from tests.bench.timing import chosen

ROUNDS = 3
SHARE = 0.3
HOSTS = 40
"""Of a round, one run each."""

HOST_NAME = "bench-processing"

WRITTEN: tuple[tuple[type[Model], str], ...] = (
    (Run, "id"),
    *((model, "run_id") for model in DERIVED),
)
"""Tables that processing writes to, and their column with the run's id."""

Rows = dict[str, list[tuple[Any, ...]]]


def figures(size: Size) -> list[Figure]:
    """Runs a second of one process; the floor writes one transaction for each run as well.

    The hosts are known from a first round, as most are in a fleet.
    """
    of_a_round = 3 if size.name == "tiny" else HOSTS
    values, floors = [], []
    with scratch_runs() as accept, _floor_tables() as raw:
        _rate(process_run, accept(of_a_round))
        for _ in range(min(ROUNDS, chosen.effort.rounds)):
            keys = accept(of_a_round)
            values.append(_rate(process_run, keys))
            rows = [_rows(raw, key) for key in keys]
            _empty(raw)
            floors.append(_rate(lambda one: _copy(raw, one), rows))
    return [at_least("2 processing, one process", "runs/s", Pair.of(values, floors), SHARE)]


def _rate(act: Callable[[Any], object], items: Sequence[Any]) -> float:
    begun = time.perf_counter()
    for item in items:
        act(item)
    return len(items) / (time.perf_counter() - begun)


@contextmanager
def scratch_runs() -> Iterator[Callable[[int], list[int]]]:
    """Accepts that many new runs and returns their ids; all are gone afterwards."""
    plan = Plan(SIZES["tiny"])
    examples = list({run.host.number: run for run in plan.runs}.values())

    def accept(count: int) -> list[int]:
        return [_accept(plan, planned) for planned in examples[:count]]

    try:
        yield accept
    finally:
        hosts = Host.objects.filter(name__startswith=HOST_NAME)
        delete_runs(Run.objects.filter(host_name__startswith=HOST_NAME))
        hosts.delete()
        Environment.objects.filter(runs__isnull=True).delete()


def _accept(plan: Plan, planned: PlannedRun) -> int:
    document = without_measurements(plan, planned)
    document["run_id"] = str(uuid4())
    document["host"] = {"name": f"{HOST_NAME}-{planned.host.number}", "machine_id": None}
    body = assembled(document, planned.host.kind).body
    return accept_run(body, json.loads(body), source=Run.Source.AGENT).run.pk


@contextmanager
def _floor_tables() -> Iterator[psycopg.Connection]:
    """Empty tables like the program's, with the same indexes."""
    with psycopg.connect(dsn()) as raw:
        try:
            for model, _ in WRITTEN:
                like = sql.Identifier(model._meta.db_table)
                name = sql.Identifier(_floor_name(model))
                raw.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name))
                raw.execute(sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(name, like))
            raw.commit()
            yield raw
        finally:
            raw.rollback()
            for model, _ in WRITTEN:
                name = sql.Identifier(_floor_name(model))
                raw.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name))


def _empty(raw: psycopg.Connection) -> None:
    names = sql.SQL(",").join(sql.Identifier(_floor_name(model)) for model, _ in WRITTEN)
    raw.execute(sql.SQL("TRUNCATE {}").format(names))
    raw.commit()


def _floor_name(model: type[Model]) -> str:
    return f"bench_floor_{model._meta.model_name}"


def _rows(raw: psycopg.Connection, run: int) -> Rows:
    """All that the program wrote for a run, ready to be written."""
    found = {}
    for model, column in WRITTEN:
        statement = sql.SQL("SELECT * FROM {} WHERE {} = %s").format(
            sql.Identifier(model._meta.db_table), sql.Identifier(column)
        )
        rows = raw.execute(statement, [run]).fetchall()
        found[_floor_name(model)] = [tuple(map(_adapted, row)) for row in rows]
    raw.commit()
    return found


def _adapted(value: Any) -> Any:
    return Jsonb(value) if isinstance(value, (dict, list)) else value


def _copy(raw: psycopg.Connection, rows: Rows) -> None:
    for table, of_table in rows.items():
        statement = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))
        with raw.cursor().copy(statement) as copy:
            for row in of_table:
                copy.write_row(row)
    raw.commit()
