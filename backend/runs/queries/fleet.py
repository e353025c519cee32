"""The machines that a reference profile is fitted to."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef

from runs.models import BaselineLevel, Host, Run
from runs.models.run import COUNTED
from runs.queries.selection import voting_environment
from runs.queries.statements import LATEST_FIRST, fetch_rows

_VOTES = """
    SELECT h.slug, h.name, concat(h.machine_id, h.machine_name), h.published, e.fingerprint,
        d.label, extract(epoch FROM r.started_at)::float8, r.id, b.family, b.level
    FROM (
        SELECT DISTINCT ON (r.host_id, {environment}) r.*
        FROM runs_run r JOIN runs_environment e ON e.id = r.environment_id
        WHERE {counted}
            AND EXISTS (SELECT FROM runs_baselinelevel b WHERE b.run_id = r.id AND b.tool = %s)
        ORDER BY r.host_id, {environment}, {latest_first}
    ) r
    JOIN runs_baselinelevel b ON b.run_id = r.id AND b.tool = %s
    JOIN runs_host h ON h.id = r.host_id
    JOIN runs_environment e ON e.id = r.environment_id
    JOIN runs_dimensionvalue d ON d.id = e.os_version_id
"""


@dataclass(frozen=True)
class FleetMachine:
    """A host in one environment, with the levels (bytes per second) of its latest run.

    `key` names it whatever the order of uploads was, `name` is for people, `host` its host's
    key in filters. `latest` orders machines of one host by the date of that run.
    """

    key: str
    name: str
    host: str
    latest: tuple[float, int]
    levels: dict[str, float] = field(default_factory=dict)


def fleet_machines(tool: str) -> list[FleetMachine]:
    """One vote for each (host, environment): its latest run that has a baseline of `tool`."""
    votes = _VOTES.format(
        environment=voting_environment(tool), counted=COUNTED, latest_first=LATEST_FIRST
    )
    machines: dict[int, FleetMachine] = {}
    for slug, name, machine_id, published, environment, os, started, run, *cell in fetch_rows(
        votes, [tool, tool]
    ):
        if run not in machines:
            key = f"{machine_id or name} {published} {environment}"
            latest = (-math.inf if started is None else started, run)
            machines[run] = FleetMachine(key, f"{name}, {os}", slug, latest)
        machines[run].levels[cell[0]] = cell[1]
    return list(machines.values())


def latest_of_host(machines: Iterable[FleetMachine], host: str) -> FleetMachine | None:
    """The host in the environment that it was measured in last; None when it is not among them."""
    of_host = [machine for machine in machines if machine.host == host]
    return max(of_host, key=lambda machine: machine.latest, default=None)


def hosts_with_baselines(most: int) -> list[Host]:
    """Hosts that can be the reference of a fleet, by name, at most so many."""
    counted = BaselineLevel.objects.filter(
        run__host=OuterRef("pk"), run__status=Run.Status.READY, run__hidden=False
    )
    return list(Host.objects.filter(Exists(counted)).order_by("name", "pk")[:most])
