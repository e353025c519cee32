"""Planned hosts, environments, runs and documents as rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from documents.environment import fingerprint, ssh_environment
from documents.naming import slug
from ingest.processing.environments import columns_of, dimension_values
from store.models import Environment, Host, Run, RunDocument
from tests.bench.fleet.bodies import Kind
from tests.bench.fleet.copying import Row, copy_in, count_on, dsn, last_id
from tests.bench.fleet.documents import document_of
from tests.bench.fleet.plan import FIRST, Plan, PlannedHost, PlannedRun, Surroundings

RunRows = Mapping[Kind, Row]
"""The row of `runs_run` of a run of each kind, which the program has processed."""


@dataclass(frozen=True)
class Places:
    """The ids that rows of the plan have: numbers count on from what is stored already."""

    hosts_after: int
    runs_after: int
    environments: Mapping[Surroundings, int]

    def host(self, host: PlannedHost) -> int:
        """The host's id."""
        return self.hosts_after + host.number

    def run(self, run: PlannedRun) -> int:
        """The run's id."""
        return self.runs_after + run.number


def write_runs(plan: Plan, processed: RunRows) -> Places:
    """Hosts, environments and runs of a plan; returns their ids."""
    places = Places(last_id(Host), last_id(Run), _write_environments(plan))
    copy_in(dsn(), Host, plan.hosts, lambda host: _host_row(host, places))
    copy_in(dsn(), Run, plan.runs, lambda run: _run_row(run, places, processed))
    count_on(Host, Environment, Run)
    return places


def write_documents(dsn: str, plan: Plan, places: Places, runs: Iterable[PlannedRun]) -> None:
    """The documents of these runs."""

    def row(run: PlannedRun) -> Row:
        document = document_of(plan, run)
        return {
            "run_id": places.run(run),
            "body": document.body,
            "content_digest": document.digest,
        }

    copy_in(dsn, RunDocument, runs, row)


def _host_row(host: PlannedHost, places: Places) -> Row:
    return {
        "id": places.host(host),
        "name": host.name,
        "slug": slug(host.name),
        "machine_id": _machine_id(host),
        "published": host.source == "published",
        "created_at": FIRST,
    }


def _machine_id(host: PlannedHost) -> str | None:
    """Published hosts are known by their names alone."""
    return None if host.source == "published" else host.machine_id


def _run_row(run: PlannedRun, places: Places, processed: RunRows) -> Row:
    return {
        **processed[run.host.kind],
        "id": places.run(run),
        "run_id": run.run_id,
        "source": run.host.source,
        "hidden": run.hidden,
        "received_at": run.received_at,
        "host_name": run.host.name,
        "machine_id": _machine_id(run.host),
        "host_id": places.host(run.host),
        "environment_id": places.environments[run.surroundings],
        "started_at": run.started_at if run.dated else None,
        "finished_at": run.finished_at if run.dated else None,
        "tags": run.host.tags,
    }


def _write_environments(plan: Plan) -> dict[Surroundings, int]:
    wanted = sorted({run.surroundings for run in plan.runs}, key=repr)
    facts = {one: plan.environment(one) for one in wanted}
    found = {one: columns_of(facts[one]) for one in wanted}
    values = dimension_values(value for one in found.values() for value in one.values())
    after = last_id(Environment)
    ids = {one: after + number for number, one in enumerate(wanted, 1)}

    def row(one: Surroundings) -> Row:
        return {
            "id": ids[one],
            "fingerprint": fingerprint(facts[one]),
            "ssh_environment": ssh_environment(facts[one]),
            "ssh_library_id": None,
            "ssh_library_series_id": None,
            **{f"{name}_id": values[of, it.key].pk for name, (of, it) in found[one].items()},
        }

    copy_in(dsn(), Environment, wanted, row)
    return ids
