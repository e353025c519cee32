"""One run of each kind, stored and processed by the program itself; its rows serve all others.

What the program derives from figures is thereby in the data set whatever changes in how it does
that, and at the speed of the database: the rows are copied there, run by run.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from uuid import UUID, uuid5

import psycopg
from django.db.models import Model
from psycopg import sql

from ingest.arrival.acceptance import accept_run
from ingest.edits.recompute import delete_runs
from ingest.processing.run_processing import process_run
from store.models import BaselineLevel, Environment, Host, Measurement, Run, RunSpeedIndex
from tests.bench.fleet.bodies import Kind
from tests.bench.fleet.copying import columns_of
from tests.bench.fleet.documents import assembled, without_measurements
from tests.bench.fleet.plan import Plan, PlannedRun
from tests.bench.fleet.rows import Places, RunRows

NAMESPACE = UUID("6f1f6d3a-3f0e-4d7c-9d0b-2c1f3c0f9a11")
HOST_NAME = "prototype"

DERIVED: tuple[type[Model], ...] = (Measurement, BaselineLevel, RunSpeedIndex)
"""Tables with rows of a run that follow from its figures alone."""

CHUNK_RUNS = 1_000

Progress = Callable[[float], None]
"""Told how much is done, from 0 to 1."""

Prototypes = Mapping[Kind, int]
"""Kind -> the id of the run that was processed for it."""


def process_prototypes(plan: Plan, progress: Progress) -> Prototypes:
    """A processed run of each kind that the plan has."""
    examples = {run.host.kind: run for run in reversed(plan.runs)}
    prototypes = {}
    for number, (kind, run) in enumerate(examples.items(), 1):
        prototypes[kind] = _process(plan, run)
        progress(number / len(examples))
    return prototypes


def _process(plan: Plan, run: PlannedRun) -> int:
    document = without_measurements(plan, run)
    document["run_id"] = str(uuid5(NAMESPACE, repr(run.host.kind)))
    document["host"] = {"name": f"{HOST_NAME} {run.host.number}", "machine_id": None}
    # An environment of its own: those of the plan come later, by COPY.
    document["environment"]["os"]["kernel"] = HOST_NAME
    body = assembled(document, run.host.kind).body
    stored = accept_run(body, json.loads(body), source=Run.Source.AGENT).run
    if process_run(stored.pk) != Run.Status.READY:
        raise AssertionError(f"the program rejects the generated run {document['run_id']}")
    return stored.pk


def rows_of(prototypes: Prototypes) -> RunRows:
    """The prototypes' own rows."""
    found = {row["id"]: row for row in Run.objects.filter(pk__in=prototypes.values()).values()}
    return {kind: found[pk] for kind, pk in prototypes.items()}


def spread_rows(
    dsn: str, plan: Plan, places: Places, prototypes: Prototypes, progress: Progress
) -> None:
    """Give every planned run the rows of its kind's prototype."""
    with psycopg.connect(dsn, autocommit=True) as raw:
        raw.execute("SET synchronous_commit = off")
        raw.execute("CREATE TEMPORARY TABLE spread (run_id bigint, prototype_id bigint)")
        for start in range(0, len(plan.runs), CHUNK_RUNS):
            chunk = plan.runs[start : start + CHUNK_RUNS]
            _spread_chunk(raw, [(places.run(run), prototypes[run.host.kind]) for run in chunk])
            progress((start + len(chunk)) / len(plan.runs))


def _spread_chunk(raw: psycopg.Connection, pairs: Sequence[tuple[int, int]]) -> None:
    with raw.transaction():
        raw.execute("TRUNCATE spread")
        with raw.cursor().copy("COPY spread FROM STDIN") as copy:
            for pair in pairs:
                copy.write_row(pair)
        for model in DERIVED:
            raw.execute(_statement(model))


def _statement(model: type[Model]) -> sql.Composed:
    columns = [column for column in columns_of(model) if column not in ("id", "run_id")]
    names = sql.SQL(",").join(sql.Identifier(column) for column in columns)
    copied = sql.SQL(",").join(sql.Identifier("of", column) for column in columns)
    return sql.SQL(
        "INSERT INTO {table} (run_id, {names}) SELECT spread.run_id, {copied}"
        " FROM spread JOIN {table} of ON of.run_id = spread.prototype_id ORDER BY spread.run_id"
    ).format(table=sql.Identifier(model._meta.db_table), names=names, copied=copied)


def remove_prototypes(prototypes: Prototypes) -> None:
    """Delete the prototypes with their hosts, and environments that only they had."""
    delete_runs(Run.objects.filter(pk__in=prototypes.values()))
    Host.objects.filter(name__startswith=f"{HOST_NAME} ", runs__isnull=True).delete()
    Environment.objects.filter(runs__isnull=True).delete()
