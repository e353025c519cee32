"""Which hosts a list has, and in which order."""

from collections.abc import Mapping
from typing import Any

from django.db.models.functions import Lower

from analysis.comparison import natural_key
from documents.naming import UNKNOWN_KEY
from results.analytics.engine import questions
from results.hosts.host_facets import LATEST, of_latest_runs
from runs.filters import VERDICTS
from store.models import DimensionValue, Host

LABELS = {"cpu": "cpu", "os": "os_version", "openssl": "openssl", "openssh": "openssh"}
"""Ordering -> column of the environment whose label decides, in natural order."""

_VALUES = {
    "id": "r.host",
    "acceleration": f"list_position({list(VERDICTS)}, r.verdict)",
    "speed_index": "s.speed",
    "runs": "r.runs",
    "last_run_at": "r.started",
    **{name: f"nullif(list_position($values, e.{column}), 0)" for name, column in LABELS.items()},
}
"""Ordering -> SQL of a host's value; NULL comes last either way."""

FIELDS = ("name", *_VALUES)
ORDERINGS = (*FIELDS, *(f"-{name}" for name in FIELDS))
"""How a list may be ordered; with a minus the largest or latest first."""

NEWEST = "-id"

_HOSTS = f"""
{LATEST}
SELECT r.host FROM latest r JOIN environment e ON e.id = r.environment AND e.tool = 'openssl'
"""  # noqa: S608 - constants

_SPEEDS = """
LEFT JOIN (
    SELECT run, arg_min("index", tool) AS speed FROM speed_index GROUP BY run
) s ON s.run = r.run
"""
"""Of a run its speed index by openssl, else by ssh."""


def listed_hosts(
    text: str, filters: Mapping[str, tuple[str, ...]], ordering: str = NEWEST
) -> list[int]:
    """Return the ids of the hosts with this text in a name whose latest run passes the filters.

    In their order; of hosts that are alike the newest first.
    """
    name = ordering.removeprefix("-")
    direction = "DESC" if ordering.startswith("-") else "ASC"
    fits, parameters = of_latest_runs(filters)
    source = _HOSTS
    if name in LABELS:
        parameters["values"] = _in_natural_order(LABELS[name])
    if name == "speed_index":
        source += _SPEEDS
    order = f"ORDER BY {_VALUES.get(name, 'r.host')} {direction} NULLS LAST, r.host DESC"
    with questions() as ask:
        if text:
            named = Host.objects.named_like(text).values_list("pk", flat=True)
            fits += f" AND r.host IN ({', '.join(map(str, [0, *named]))})"
        hosts = [host for (host,) in ask(f"{source} WHERE {fits} {order}", parameters)]
    return _by_name(hosts, backwards=direction == "DESC") if name == "name" else hosts


def _in_natural_order(dimension: str) -> list[int]:
    """The ids of its values as people sort their labels; without the unknown one."""
    values: list[tuple[int, Any]] = [
        (pk, natural_key(label))
        for pk, label in DimensionValue.objects.filter(dimension=dimension)
        .exclude(key=UNKNOWN_KEY)
        .values_list("pk", "label")
    ]
    return [pk for pk, _ in sorted(values, key=lambda value: value[1])]


def _by_name(hosts: list[int], *, backwards: bool) -> list[int]:
    """All names are read: thousands of ids in a condition would take longer."""
    wanted, name = set(hosts), Lower("name")
    every = Host.objects.order_by(name.desc() if backwards else name.asc(), "-pk")
    return [pk for pk in every.values_list("pk", flat=True) if pk in wanted]
