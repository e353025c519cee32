"""What there is to choose from when a recommendation is asked for: hosts and their filters."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from analysis.comparison import natural_key
from compare.question import ComparisonQuery
from results.analytics.engine import questions
from results.figures import group_expression, results_statement
from results.hosts.host_names import NAMED_LIKE
from results.recommendation.measured_ssh import MOST_HOSTS, HostSelection, plain_ssh
from store.models import DimensionValue, Host
from store.models.run import COUNTED
from store.statements import fetch_rows


@dataclass(frozen=True)
class HostName:
    """A host to choose: its key and its name."""

    key: str
    name: str


def hosts_to_choose(limit: int) -> list[HostName]:
    """The hosts with figures, newest first."""
    statement = results_statement(
        ComparisonQuery(tool="ssh", group_by="host"), plain_ssh(HostSelection().methods)
    )
    statement.parameters["most"] = limit
    latest = "SELECT DISTINCT host FROM results ORDER BY host DESC LIMIT $most"
    with questions() as ask:
        ids = [host for (host,) in ask(statement.sql(latest), statement.parameters)]
    found = Host.objects.filter(pk__in=ids).order_by("-pk").values_list("slug", "name")
    return [HostName(*row) for row in found]


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


def values_of_dimensions(dimensions: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Dimension -> (key, label) of every value that a host with figures has."""
    wanted = list(dimensions)
    columns = ", ".join(group_expression(dimension)[0] for dimension in wanted)
    statement = f"""
        SELECT DISTINCT {columns} FROM environment e WHERE e.tool = 'ssh' AND e.id IN (
            SELECT environment FROM run WHERE id IN (SELECT run FROM result)
        )
    """  # noqa: S608 - closed lists
    with questions() as ask:
        ids = {value for row in ask(statement, {}) for value in row}
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for dimension, key, label in DimensionValue.objects.filter(
        pk__in=ids, dimension__in=wanted
    ).values_list("dimension", "key", "label"):
        found[dimension].append((key, label))
    return {
        dimension: sorted(values, key=lambda value: natural_key(value[1]))
        for dimension, values in found.items()
    }
