"""The hosts that a reference profile is fitted to."""

from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef

from results.analytics.engine import questions
from store.models import BaselineLevel, Host, Run

_LEVELS = """
SELECT v.run, l.family, l.level FROM (
    SELECT arg_max(r.id, r.moment) AS run
    FROM run r WHERE r.id IN (SELECT run FROM level WHERE tool = $tool) GROUP BY r.host
) v JOIN level l ON l.run = v.run AND l.tool = $tool
ORDER BY v.run, l.family
"""


@dataclass(frozen=True)
class FleetHost:
    """A host with the levels (bytes per second) of its latest run that has a baseline.

    `key` names it whatever the order of uploads was, `name` is for people (with the operating
    system of that run), `host` its key in filters.
    """

    key: str
    name: str
    host: str
    levels: dict[str, float] = field(default_factory=dict)


def fleet_hosts(tool: str) -> list[FleetHost]:
    """One vote for each host: its latest run that has a baseline of `tool`."""
    levels: dict[int, dict[str, float]] = {}
    with questions() as ask:
        for run, family, level in ask(_LEVELS, {"tool": tool}):
            levels.setdefault(run, {})[family] = level
    runs = Run.objects.filter(pk__in=levels).values_list(
        "pk",
        "host__slug",
        "host__name",
        "host__machine_id",
        "host__machine_name",
        "host__published",
        "environment__os_version__label",
    )
    return [
        FleetHost(
            f"{machine_id or name} {machine_name} {published}", f"{name}, {os}", slug, levels[run]
        )
        for run, slug, name, machine_id, machine_name, published, os in runs
    ]


def hosts_with_baselines(most: int) -> list[Host]:
    """Hosts that can be the reference of a fleet, by name, at most so many."""
    counted = BaselineLevel.objects.filter(
        run__host=OuterRef("pk"), run__status=Run.Status.READY, run__hidden=False
    )
    return list(Host.objects.filter(Exists(counted)).order_by("name", "pk")[:most])
