"""Runs that the program has stored and processed itself; the hosts of a fleet are copies of them.

Machines, systems, releases and speeds are those of the bench. Of its 120 results a run has 24:
each cipher of ssh by the method pipeline with the client's own MAC, of openssl at 16 KiB.
"""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.management import call_command
from django.db import connection

from ingest.arrival.acceptance import accept_run
from ingest.processing.run_processing import process_run
from results.analytics.copy import Duck, filled_copy
from results.analytics.unseen_changes import State, present_state
from store.models import Run
from store.statements import one_moment
from tests.bench.fleet import build
from tests.bench.fleet.bodies import measurements
from tests.bench.fleet.documents import without_measurements
from tests.bench.fleet.plan import FIRST, LAST, Plan, PlannedRun
from tests.bench.fleet.size import Size

SIZE = Size("scale", 500, 500)
"""Half of its machines have been upgraded: they have an older run from before that."""


MOST_NAMED = 1_000_000
"""More hosts than these have no name: that takes PostgreSQL minutes, and is asked once."""


def provide() -> None:
    """Connect Django to a new database with these runs."""
    build.create(SIZE)
    build.use(SIZE)
    call_command("migrate", interactive=False, verbosity=0)
    store(SIZE)


def store(size: Size) -> None:
    """Accept and process the runs of so many machines, by the program."""
    plan = Plan(size)
    for run in _runs(plan):
        document = {**without_measurements(plan, run), "measurements": list(_few(run))}
        stored = accept_run(json.dumps(document).encode(), document, source=Run.Source.AGENT).run
        if process_run(stored.pk) != Run.Status.READY:
            raise AssertionError(f"the program rejects the generated run {run.run_id}")


_HOSTS = """
INSERT INTO runs_host (id, name, slug, machine_id, published, created_at)
SELECT id, 'host ' || id, 'host-' || id, md5(id::text), false, now()
FROM generate_series((SELECT max(id) + 1 FROM runs_host), %s) id
"""


def name_hosts(hosts: int) -> None:
    """Have PostgreSQL know hosts up to this id by name, at most `MOST_NAMED`."""
    with connection.cursor() as cursor:
        cursor.execute(_HOSTS, [min(hosts, MOST_NAMED)])
        cursor.execute("ANALYZE runs_host")


def read() -> tuple[Duck, State]:
    """The program's copy of all that is stored, and of which state it is."""
    with one_moment(), connection.cursor() as cursor:
        state = present_state(cursor)
        return filled_copy(cursor), state


def _runs(plan: Plan) -> Iterator[PlannedRun]:
    """Of each machine the run before its upgrades, if it had any, and the latest."""
    for host in plan.hosts:
        moments = {host.surroundings(moment): moment for moment in (FIRST, LAST)}
        for surroundings, moment in moments.items():
            yield PlannedRun(
                number=host.number,
                run_id=UUID(int=2 * host.number + (moment == LAST), version=4),
                host=host,
                surroundings=surroundings,
                started_at=moment,
                dated=True,
                hidden=False,
                load=0.1,
            )


def _few(run: PlannedRun) -> Iterator[dict[str, Any]]:
    for one in measurements(run.host.kind):
        if one.get("block_size") == 16384 or (one.get("method") == "pipeline" and not one["mac"]):
            yield one
