"""The filters that there are to choose from: their values with counts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple, dataclass, replace

from analysis.comparison import natural_key
from documents.naming import UNKNOWN_KEY
from runs.models.environment import DIMENSIONS
from runs.queries.machine_results import Relation
from runs.queries.rolled_up import is_unfiltered
from runs.queries.selection import (
    ComparisonQuery,
    Where,
    add_filter,
    dimension_value,
    machine_conditions,
    result_conditions,
    tags_by_key,
    voting_environment,
)
from runs.queries.series_sets import latest_series, told_by_sets
from runs.queries.statements import array, fetch_prepared, fetch_rows
from runs.rollups import Made, Question, maker, rollup

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
"""Tag keys that are filters, at most: those of most machines."""

MOST_OPTIONS = 200
"""Hosts to choose from, at most: nobody reads a list of ten thousand."""

SOURCE_LABELS = {"agent": "Agent", "import": "Import", "published": "Published"}


@dataclass(frozen=True)
class FacetOption:
    """One value with the number of (host, environment) pairs that have it."""

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
    """Every filter with its values, counted under the query's other filters."""
    if not is_unfiltered(replace(query, mac=None)):
        return facets_directly(query)
    body = rollup("facets", {"tool": query.tool})
    return tuple(
        Facet(**{**facet, "options": tuple(FacetOption(*option) for option in facet["options"])})
        for facet in body["facets"]
    )


@maker("facets")
def _make_facets(question: Question) -> Made:
    found = facets_directly(ComparisonQuery(tool=question["tool"]))
    return Made(
        {
            "facets": [
                {**vars(facet), "options": [astuple(option) for option in facet.options]}
                for facet in found
            ]
        }
    )


def facets_directly(query: ComparisonQuery) -> tuple[Facet, ...]:
    """The same from the machines and their latest results.

    So a second value can be added to a filter. Two statements count, whatever the filters, and
    two bring the names of hosts and of dimensions' values; up to a moment, two more bring what
    was measured then.
    """
    counts: defaultdict[str, dict[str, int]] = defaultdict(dict)
    measured = _measured_then(query)
    statement = _counts(query, measured)
    for name, value, count in fetch_rows(statement.sql, statement.parameters):
        counts[name][value] = count
    names = _dimension_names(counts)
    return (*(_facet(name, counts[name], names) for name in FACETS), *tag_facets(query, measured))


Measured = Collection[tuple[str, int]]
"""The (AES verdict, machine) of the runs that machines' latest results come from."""


def _measured_then(query: ComparisonQuery) -> Measured | None:
    """By the query's tool and dates, whatever its filters; None where it is now."""
    unfiltered = replace(query, mac=None, filters={})
    if not told_by_sets(unfiltered):
        return None
    of_tool = _series_of_tool(query)
    ((ids,),) = fetch_prepared(f"SELECT {of_tool.sql}", of_tool.parameters)
    return latest_series(unfiltered, ids, "r.acceleration").keys()


def _counts(query: ComparisonQuery, measured: Measured | None) -> Relation:
    """(facet, value, pairs) of every facet.

    A machine that passes all filters counts in each facet, one that fails a single filter only
    in that filter's own.
    """
    filters = {name: Where([], []) for name in FACETS if query.filters.get(name)}
    verdicts = [list(query.filters["verdict"])] if "verdict" in filters else []
    for name in filters.keys() - {"verdict"}:
        add_filter(filters[name], name, query.filters[name], tool=query.tool)
    failed = " + ".join(f"(NOT passed_{name})::int" for name in filters) or "0"
    columns = {
        name: f"{dimension_value(name, query.tool)}::text" for name in FACETS if name in DIMENSIONS
    }
    columns |= {"host": "k.host_id::text", "source": "k.source"}
    selected = [f"{column} AS of_{name}" for name, column in columns.items()]
    selected += [f"{one.text} AS passed_{name}" for name, one in filters.items() if one.conditions]
    values = ", ".join(
        f"('{name}', of_{name}, {f'passed_{name}' if name in filters else 'true'})"
        for name in columns
    )
    others, verdict = machine_conditions(query, without=FACETS), _verdicts(query, measured)
    environment = voting_environment(query.tool)
    sql = f"""
        WITH passing AS (
            SELECT k.id, k.host_id, {environment} AS environment_id, k.source, k.tags,
                {", ".join(selected)}
            FROM runs_machine k JOIN runs_environment e ON e.id = k.environment_id
            WHERE {others.text}
        ), counted AS MATERIALIZED (
            SELECT k.*, verdicts, passed_verdict, {failed} AS failed FROM passing k
            {verdict.sql}
            CROSS JOIN LATERAL (
                SELECT {"verdicts && %s::varchar[]" if verdicts else "true"} AS passed_verdict
            ) v
            WHERE verdicts IS NOT NULL
        )
        SELECT facet, value, count(*) FROM (
            SELECT DISTINCT facet, value, host_id, environment_id FROM counted
            CROSS JOIN LATERAL (
                VALUES {values}
                UNION ALL SELECT 'verdict', one, passed_verdict FROM unnest(verdicts) one
            ) v (facet, value, passed)
            WHERE failed = 0 OR (failed = 1 AND NOT passed)
        ) pairs GROUP BY facet, value
    """  # noqa: S608 - closed lists
    flagged = [value for one in filters.values() for value in one.parameters]
    return Relation(sql, (*flagged, *others.parameters, *verdict.parameters, *verdicts))


def _verdicts(query: ComparisonQuery, measured: Measured | None) -> Relation:
    """A join that brings `verdicts`: of the runs that a machine's latest results come from.

    Of results of the tool. NULL, or no row, where there are none.
    """
    if measured is not None:
        return Relation(
            """
            JOIN (
                SELECT machine_id, array_agg(verdict)
                FROM unnest(%s::int[], %s::varchar[]) n (machine_id, verdict) GROUP BY machine_id
            ) m (machine_id, verdicts) ON m.machine_id = k.id
            """,
            (array(machine for _, machine in measured), [verdict for verdict, _ in measured]),
        )
    unfiltered = replace(query, mac=None, filters={})
    series, dates = _series_of_tool(query), result_conditions(unfiltered)
    return Relation(
        f"""
        CROSS JOIN LATERAL (
            SELECT array_agg(DISTINCT r.acceleration) FROM (
                SELECT DISTINCT l.run_id FROM runs_latest l
                WHERE l.machine_id = k.id AND l.series_id = ANY({series.sql}) AND {dates.text}
            ) x JOIN runs_run r ON r.id = x.run_id
        ) m (verdicts)
        """,  # noqa: S608 - closed lists
        (*series.parameters, *dates.parameters),
    )


def _series_of_tool(query: ComparisonQuery) -> Relation:
    return Relation("ARRAY(SELECT id FROM runs_series WHERE tool = %s)", (query.tool,))


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


def tag_facets(query: ComparisonQuery, measured: Measured | None) -> tuple[Facet, ...]:
    """A filter for each tag key, counted under all filters but its own; few keys at most."""
    machines, result = machine_conditions(query, without=("tag",)), _has_result(query, measured)
    for key, values in tags_by_key(query.filters.get("tag", ())).items():
        machines.add("(t.key = %s OR k.tags ->> %s = ANY(%s))", key, key, values)
    rows = fetch_rows(
        f"""
        SELECT key, value, count(*) FROM (
            SELECT DISTINCT t.key, t.value, k.host_id, {voting_environment(query.tool)}
            FROM runs_machine k JOIN runs_environment e ON e.id = k.environment_id
            CROSS JOIN LATERAL jsonb_each_text(k.tags) t
            WHERE {machines.text} AND {result.sql}
        ) pairs GROUP BY key, value
        """,  # noqa: S608 - closed lists
        [*machines.parameters, *result.parameters],
    )
    by_key: dict[str, list[FacetOption]] = {}
    for key, value, count in rows:
        by_key.setdefault(key, []).append(FacetOption(f"{key}:{value}", value, count))
    widest = sorted(by_key, key=lambda key: (-sum(one.count for one in by_key[key]), key))
    return tuple(
        _tag_facet(key, by_key[key]) for key in sorted(widest[:MOST_TAG_KEYS], key=natural_key)
    )


def _tag_facet(key: str, options: list[FacetOption]) -> Facet:
    """The values that most machines have, as many as one may choose from."""
    widest = sorted(options, key=lambda one: (-one.count, one.label))[:MOST_OPTIONS]
    more = len(options) - len(widest)
    return Facet("tag", f"Tag {key}", _in_order(widest), tag=key, more=more)


def _has_result(query: ComparisonQuery, measured: Measured | None) -> Relation:
    """The condition that a machine (k) has a result (l) of the tool as the query asks."""
    asked = query.filters.get("verdict")
    if measured is not None:
        machines = (machine for verdict, machine in measured if not asked or verdict in asked)
        return Relation("k.id = ANY(%s::int[])", (array(machines),))
    series, conditions = _series_of_tool(query), result_conditions(replace(query, mac=None))
    # A scalar subquery with a limit: each machine is looked up by its key, none is read whole.
    return Relation(
        "(SELECT true FROM runs_latest l WHERE l.machine_id = k.id"  # noqa: S608
        f" AND l.series_id = ANY({series.sql}) AND {conditions.text} LIMIT 1)",
        (*series.parameters, *conditions.parameters),
    )
