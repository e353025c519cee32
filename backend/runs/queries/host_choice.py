"""What there is to choose from when a recommendation is asked for: hosts and their filters."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from analysis.comparison import natural_key
from runs.models.run import COUNTED
from runs.queries.host_names import NAMED_LIKE
from runs.queries.recommendation import MOST_HOSTS, PLAIN_SSH, HostSelection
from runs.queries.selection import dimension_value
from runs.queries.statements import fetch_rows


@dataclass(frozen=True)
class HostName:
    """A host to choose: its key and its name."""

    key: str
    name: str


def hosts_to_choose(limit: int) -> list[HostName]:
    """The hosts with figures, the one added last first."""
    rows = fetch_rows(
        "SELECT h.slug, h.name FROM runs_host h WHERE EXISTS (SELECT 1 FROM runs_machine k"  # noqa: S608
        " JOIN runs_latest l ON l.machine_id = k.id WHERE k.host_id = h.id"
        f" AND l.series_id = ANY(ARRAY({PLAIN_SSH}))) ORDER BY h.id DESC LIMIT %s",
        [HostSelection().methods, limit],
    )
    return [HostName(*row) for row in rows]


def hosts_called(texts: Iterable[str]) -> list[HostName]:
    """The hosts with a run that counts whose key, name or former name is one of these, by key."""
    wanted = list(texts)
    rows = fetch_rows(
        "SELECT h.slug, h.name FROM runs_host h WHERE (h.slug = ANY(%s) OR h.name = ANY(%s)"  # noqa: S608
        " OR h.id IN (SELECT n.host_id FROM runs_hostname n WHERE n.name = ANY(%s)))"
        " AND EXISTS (SELECT 1 FROM runs_run r"
        f" WHERE r.host_id = h.id AND {COUNTED}) ORDER BY h.slug LIMIT %s",
        [wanted, wanted, wanted, MOST_HOSTS],
    )
    return [HostName(*row) for row in rows]


def hosts_like(text: str, limit: int) -> list[HostName]:
    """The hosts with a run that counts of which a name holds this text, by name."""
    rows = fetch_rows(
        "SELECT h.slug, h.name FROM runs_host h"  # noqa: S608
        f" WHERE {NAMED_LIKE} AND EXISTS (SELECT 1 FROM runs_run r"
        f" WHERE r.host_id = h.id AND {COUNTED}) ORDER BY h.name, h.slug LIMIT %s",
        [text, text, limit],
    )
    return [HostName(*row) for row in rows]


def _values(dimension: str) -> str:
    """The values of one dimension, which is the parameter, that some machine with figures has."""
    return f"""
        SELECT d.dimension, d.key, d.label FROM runs_dimensionvalue d
        WHERE d.dimension = %s AND (
            SELECT true FROM runs_environment e JOIN runs_machine k ON k.environment_id = e.id
            WHERE {dimension_value(dimension, "ssh")} = d.id
                AND (SELECT true FROM runs_latest l WHERE l.machine_id = k.id LIMIT 1) LIMIT 1)
    """  # noqa: S608 - closed lists


def values_of_dimensions(dimensions: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Dimension -> (key, label) of every value that a machine with figures has."""
    wanted = list(dimensions)
    rows = fetch_rows(" UNION ALL ".join(_values(dimension) for dimension in wanted), wanted)
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for dimension, key, label in rows:
        found[dimension].append((key, label))
    return {
        dimension: sorted(values, key=lambda value: natural_key(value[1]))
        for dimension, values in found.items()
    }
