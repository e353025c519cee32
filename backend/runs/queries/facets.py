"""The filters that there are to choose from: their values with counts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.comparison import natural_key
from documents.naming import UNKNOWN_KEY
from runs.analytics.engine import questions
from runs.models import Series
from runs.models.environment import DIMENSIONS
from runs.queries.figures import Statement, filter_condition, runs_statement, tag_conditions
from runs.queries.selection import TAG_PREFIX, ComparisonQuery
from runs.queries.statements import fetch_rows

FACETS = {
    "cpu": "CPU",
    "cpu_vendor": "CPU vendor",
    "microarchitecture": "Microarchitecture",
    "os": "Operating system",
    "openssl_series": "OpenSSL series",
    "openssl": "OpenSSL version",
    "openssh": "OpenSSH version",
    "virtualization": "Virtualisation",
    "verdict": "AES acceleration",
    "host": "Host",
    "source": "Source",
}
"""Filter name -> its title; the tags are beside these."""

MOST_TAG_KEYS = 20
"""Tag keys that are filters, at most: those of most hosts."""

MOST_OPTIONS = 200
"""Hosts to choose from, at most: nobody reads a list of ten thousand."""

SOURCE_LABELS = {"agent": "Agent", "import": "Import", "published": "Published"}


@dataclass(frozen=True)
class FacetOption:
    """One value with the number of hosts that have it."""

    key: str
    label: str
    count: int


@dataclass(frozen=True)
class Facet:
    """A filter: its parameter name, its title and its values in natural order.

    `tag` is the key of the tag that it is about, for the parameter `tag` alone. `more`: how many
    values there are beyond the first `MOST_OPTIONS`.
    """

    name: str
    label: str
    options: tuple[FacetOption, ...]
    tag: str = ""
    more: int = 0


def facets(query: ComparisonQuery) -> tuple[Facet, ...]:
    """Every filter with its values, counted under the query's other filters.

    So a second value can be added to a filter.
    """
    statement = _statement(query)
    counts: defaultdict[str, dict[str, int]] = defaultdict(dict)
    with questions() as ask:
        for name, value, hosts in ask(statement.sql(_COUNTS), statement.parameters):
            counts[name][value] = hosts
    names = _dimension_names(counts)
    return (*(_facet(name, counts[name], names) for name in FACETS), *_tag_facets(counts))


_COLUMNS = {
    **{name: f"e.{name}" for name in FACETS if name in DIMENSIONS},
    "verdict": "r.verdict",
    "host": "r.host",
    "source": "r.source",
}
"""Facet -> its value of a run (r) in an environment (e)."""

_COUNTS = "SELECT facet, value, count(DISTINCT host) FROM counted GROUP BY facet, value"


def _statement(query: ComparisonQuery) -> Statement:
    """`counted` (facet, value, host) of the runs with a result of the tool.

    A run that passes all filters counts in every facet, one that fails a single filter in that
    filter's own. Each tag key is a filter.
    """
    statement = runs_statement(query, without=query.filters)
    failed = _failed(query, statement.parameters)
    own = {facet: f"failed_{place}" for place, facet in enumerate(failed)}
    columns = [f"{column}::VARCHAR AS of_{name}" for name, column in _COLUMNS.items()]
    columns += [f"{failed[facet]} AS {name}" for facet, name in own.items()]
    of_tool = Series.objects.filter(tool=query.tool).values_list("pk", flat=True)
    statement.parameters["of_tool"] = list(of_tool)
    statement.ctes["judged"] = f"""
        SELECT r.host, r.tags, {", ".join(columns)}, {" + ".join(own.values()) or "0"} AS failed
        FROM runs r JOIN environment e ON e.id = r.environment AND e.tool = $tool
        WHERE r.id IN (SELECT run FROM result WHERE list_contains($of_tool::INTEGER[], series))
    """  # noqa: S608 - closed lists
    counted = [
        f"SELECT '{name}' AS facet, of_{name} AS value, host FROM judged"  # noqa: S608
        f" WHERE failed = {own.get(name, 0)}"
        for name in FACETS
    ]
    of_key = " ".join(
        f"WHEN '{TAG_PREFIX}' || $tag_key_{number} THEN {own[facet]}"
        for number, facet in enumerate(one for one in own if one.startswith(TAG_PREFIX))
    )
    counted.append(f"""
        SELECT facet, value, host FROM (
            SELECT *, '{TAG_PREFIX}' || unnest(map_keys(tags)) AS facet,
                unnest(map_values(tags)) AS value
            FROM judged
        ) WHERE failed = {f"CASE facet {of_key} ELSE 0 END" if of_key else 0}
    """)  # noqa: S608 - closed lists
    statement.ctes["counted"] = " UNION ALL ".join(counted)
    return statement


def _failed(query: ComparisonQuery, parameters: dict[str, Any]) -> dict[str, str]:
    """Facet of each filter chosen -> SQL: 1 for a run that fails it; adds their parameters."""
    conditions = {}
    for name in FACETS:
        if query.filters.get(name):
            conditions[name], more = filter_condition(name, query.filters[name])
            parameters.update(more)
    of_tags, more = tag_conditions(query.filters.get("tag", ()))
    parameters.update(more)
    conditions |= {f"{TAG_PREFIX}{key}": condition for key, condition in of_tags.items()}
    return {
        facet: f"(NOT coalesce({condition}, false))::INTEGER"
        for facet, condition in conditions.items()
    }


Names = Mapping[str, tuple[str, str]]


def _dimension_names(counts: Mapping[str, Mapping[str, int]]) -> Names:
    wanted = [int(value) for name in DIMENSIONS for value in counts.get(name, ())]
    rows = fetch_rows("SELECT id, key, label FROM runs_dimensionvalue WHERE id = ANY(%s)", [wanted])
    return {str(pk): (key, label) for pk, key, label in rows}


def _host_names(hosts: Iterable[str]) -> Names:
    """The first of these hosts by name."""
    rows = fetch_rows(
        "SELECT id, slug, name FROM runs_host WHERE id = ANY(%s) ORDER BY name, id LIMIT %s",
        [[int(host) for host in hosts], MOST_OPTIONS],
    )
    return {str(pk): (key, label) for pk, key, label in rows}


def _facet(name: str, counts: Mapping[str, int], dimensions: Names) -> Facet:
    names: Names = dimensions
    if name == "host":
        names = _host_names(counts)
    elif name == "source":
        names = {source: (source, label) for source, label in SOURCE_LABELS.items()}
    elif name == "verdict":
        names = {verdict: (verdict, verdict.title()) for verdict in counts}
    options = [
        FacetOption(*names[value], count) for value, count in counts.items() if value in names
    ]
    return Facet(name, FACETS[name], _in_order(options), more=len(counts) - len(options))


def _in_order(options: Iterable[FacetOption]) -> tuple[FacetOption, ...]:
    return tuple(
        sorted(
            options,
            key=lambda option: (option.key == UNKNOWN_KEY, natural_key(option.label)),
        )
    )


def _tag_facets(counts: Mapping[str, Mapping[str, int]]) -> Iterable[Facet]:
    """The filters of those tag keys that most hosts have, in natural order."""
    by_key = {
        name.removeprefix(TAG_PREFIX): values
        for name, values in counts.items()
        if name.startswith(TAG_PREFIX)
    }
    widest = sorted(by_key, key=lambda key: (-sum(by_key[key].values()), key))
    for key in sorted(widest[:MOST_TAG_KEYS], key=natural_key):
        options = [FacetOption(f"{key}:{value}", value, n) for value, n in by_key[key].items()]
        yield _tag_facet(key, options)


def _tag_facet(key: str, options: list[FacetOption]) -> Facet:
    """The values that most hosts have, as many as one may choose from."""
    widest = sorted(options, key=lambda one: (-one.count, one.label))[:MOST_OPTIONS]
    more = len(options) - len(widest)
    return Facet("tag", f"Tag {key}", _in_order(widest), tag=key, more=more)
