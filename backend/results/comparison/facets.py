"""The filters that there are to choose from: their values with counts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.comparison import natural_key
from compare.question import TAG_PREFIX, ComparisonQuery
from documents.naming import UNKNOWN_KEY
from results.analytics.engine import questions
from results.comparison.measured import measured
from results.figures import Statement, filter_condition, runs_statement, tag_conditions
from store.models.dimension import DIMENSIONS
from store.statements import fetch_rows

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
    "disturbed": "Run disturbed",
}
"""Filter name -> its title; the tags are beside these."""

MOST_TAG_KEYS = 20
"""Tag keys that are filters, at most: those of most hosts."""

MOST_OPTIONS = 200
"""Hosts to choose from, at most: nobody reads a list of ten thousand."""

SOURCE_LABELS = {"agent": "Agent", "import": "Import", "published": "Published"}
DISTURBED_LABELS = {"no": "No", "yes": "Yes"}


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

    So a second value can be added to a filter. Hosts count that measured anything of the query's
    class (tool, method, threads ...), as in a group, whatever the cipher and the block size.
    A chosen value is among them though no host has it under the other filters.
    """
    chosen = {name: dict.fromkeys(query.filters.get(name, ()), 0) for name in _TEXTS}
    counts = defaultdict[str, dict[str, int]](dict, chosen)
    with questions() as ask:
        judged, counted = _statements(query, measured(ask, query).slots)
        ask(f"CREATE OR REPLACE TEMP TABLE judged AS {judged.sql('FROM kinds')}", judged.parameters)
        for name, value, hosts in ask(counted.sql("FROM counted"), counted.parameters):
            counts[name][value] = hosts
    names = _dimension_names(counts, query.filters)
    of_hosts = _host_facet(counts["host"], query.filters.get("host", ()))
    return (
        *(of_hosts if name == "host" else _facet(name, counts[name], names) for name in FACETS),
        *_tag_facets(counts),
    )


_IDS = {name: f"e.{name}" for name in FACETS if name in DIMENSIONS}
_TEXTS = {"verdict": "r.verdict", "source": "r.source", "disturbed": "r.disturbed"}
"""Facet -> its value of a run (r) in an environment (e); besides there is the host."""


def _statements(query: ComparisonQuery, sets: Iterable[int]) -> tuple[Statement, Statement]:
    """`kinds`, the different runs with a result of the query's class; of these `counted`.

    A run that passes all filters counts in every facet, one that fails a single filter in that
    filter's own. Each tag key is a filter. `counted` (facet, value, hosts) has the hosts
    themselves in one row, as a list and its length.
    """
    judged = runs_statement(query, without=query.filters)
    judged.parameters["sets"] = list(sets)
    failed = _failed(query, judged.parameters)
    own = {facet: f"failed_{place}" for place, facet in enumerate(failed)}
    columns = [f"{column} AS of_{name}" for name, column in {**_IDS, **_TEXTS}.items()]
    columns += [f"{failed[facet]} AS {name}" for facet, name in own.items()]
    judged.ctes["kinds"] = f"""
        SELECT r.host, r.tags, {", ".join(columns)}, {" + ".join(own.values()) or "0"} AS failed
        FROM run r SEMI JOIN (
            SELECT max(id) AS id FROM runs
            WHERE series_set IN (SELECT unnest($sets::BIGINT[]))
            GROUP BY host, environment, source, verdict, disturbed, tags::VARCHAR
        ) USING (id) JOIN environment e ON e.id = r.environment AND e.tool = $tool
    """  # noqa: S608 - closed lists
    of_key = " ".join(
        f"WHEN '{TAG_PREFIX}' || $tag_key_{number} THEN {own[facet]}"
        for number, facet in enumerate(one for one in own if one.startswith(TAG_PREFIX))
    )
    hosts = f"SELECT DISTINCT host FROM judged WHERE failed = {own.get('host', 0)}"  # noqa: S608
    tags = f"""
        SELECT facet, value, count(DISTINCT host) FROM (
            SELECT *, '{TAG_PREFIX}' || tag_key AS facet FROM (
                SELECT *, unnest(map_keys(tags)) AS tag_key, unnest(map_values(tags)) AS value
                FROM judged
            )
        ) WHERE failed = {f"CASE facet {of_key} ELSE 0 END" if of_key else 0} GROUP BY facet, value
    """  # noqa: S608 - closed lists
    counted = Statement(
        {
            "counted": f"""
                {_counts(_IDS, own)} UNION ALL {_counts(_TEXTS, own)} UNION ALL {tags} UNION ALL
                SELECT 'host', string_agg(host::VARCHAR, ','), count(*) FROM ({hosts})
            """  # noqa: S608 - closed lists
        },
        {name: one for name, one in judged.parameters.items() if name.startswith("tag_key_")},
    )
    return judged, counted


def _counts(names: Iterable[str], own: Mapping[str, str]) -> str:
    """SELECT of these facets, whose values are of one type: their values, each with its hosts."""
    facets = ", ".join(f"'{name}'" for name in names)
    values = ", ".join(f"of_{name}" for name in names)
    return f"""
        SELECT [{facets}][facet], value::VARCHAR, count(DISTINCT host) FROM (
            SELECT host, failed, unnest(range(1, len([{facets}]) + 1)) AS facet,
                unnest([{values}]) AS value,
                unnest([{", ".join(own.get(name, "0") for name in names)}]) AS own
            FROM judged
        ) WHERE failed = own GROUP BY facet, value
    """  # noqa: S608 - closed lists


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


_NAMES = """
SELECT id, dimension, key, label FROM runs_dimensionvalue
WHERE id = ANY(%s) OR (dimension, key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
"""


def _dimension_names(
    counts: defaultdict[str, dict[str, int]], chosen: Mapping[str, tuple[str, ...]]
) -> Names:
    """Of counted values by id; a chosen one that nothing has is added to the counts, as 0."""
    wanted = [int(value) for name in DIMENSIONS for value in counts.get(name, ())]
    pairs = [(name, key) for name in _IDS for key in chosen.get(name, ())]
    names = {}
    columns = [list(column) for column in zip(*pairs, strict=True)] or [[], []]
    for pk, name, key, label in fetch_rows(_NAMES, [wanted, *columns]):
        names[str(pk)] = (key, label)
        counts[name].setdefault(str(pk), 0)
    return names


def _facet(name: str, counts: Mapping[str, int], dimensions: Names) -> Facet:
    names: Names = dimensions
    if name in ("source", "disturbed"):
        labels = SOURCE_LABELS if name == "source" else DISTURBED_LABELS
        names = {key: (key, label) for key, label in labels.items()}
    elif name == "verdict":
        names = {verdict: (verdict, verdict.title()) for verdict in counts}
    options = [
        FacetOption(*names[value], count) for value, count in counts.items() if value in names
    ]
    return Facet(name, FACETS[name], _in_order(options), more=len(counts) - len(options))


# A join: to look each host up in a list of ten thousand took half of the page's time.
_HOSTS = """
WITH asked AS (SELECT %s::text[] AS chosen)
SELECT slug, name, (counted.id IS NOT NULL)::integer
FROM asked, runs_host h LEFT JOIN unnest(%s::integer[]) AS counted (id) ON counted.id = h.id
WHERE counted.id IS NOT NULL OR slug = ANY(chosen)
ORDER BY slug = ANY(chosen) DESC, name, h.id LIMIT %s
"""


def _host_facet(counts: Mapping[str, int], chosen: Collection[str]) -> Facet:
    """The chosen hosts, then the first by name: each is one."""
    ((hosts, number),) = counts.items()
    rows = fetch_rows(_HOSTS, [list(chosen), f"{{{hosts or ''}}}", MOST_OPTIONS])
    options = _in_order(FacetOption(*row) for row in rows)
    return Facet("host", FACETS["host"], options, more=number - sum(row[2] for row in rows))


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
