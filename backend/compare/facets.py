from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

from django.db import connection

from cipherspeed.choices import TAG_PREFIX
from cipherspeed.groups import group_order, natural_key
from cipherspeed.naming import UNKNOWN_KEY
from compare.comparison import GroupName, group_names
from compare.engine import analytics
from compare.figures import filter_conditions, member, runs_statement
from compare.question import ComparisonQuery
from compare.votes import counted, slots_of_sets
from runs.models.dimension import DIMENSIONS

FACETS = {
    "cpu": "CPU",
    "cpu_vendor": "CPU vendor",
    "microarchitecture": "Microarchitecture",
    "os": "Operating system",
    "os_version": "Operating system version",
    "openssl_series": "OpenSSL release series",
    "openssl": "OpenSSL version",
    "openssh": "OpenSSH version",
    "virtualization": "Virtualisation",
    "verdict": "AES acceleration",
    "host": "Host",
    "source": "Source",
    "disturbed": "Run disturbed",
}

MOST_TAG_KEYS = 20

MOST_OPTIONS = 200


@dataclass(frozen=True)
class FacetOption:
    key: str
    label: str
    count: int  # hosts


@dataclass(frozen=True)
class Facet:
    """Describe a filter and its values.

    `name`: URL parameter. `tag`: tag key, if this is a filter by tag. `options`: at most
    `MOST_OPTIONS` values that are selected or contain the text `search`. `more`: number of further
    values that contain the text. `total`: number of all values.
    """

    name: str
    label: str
    options: tuple[FacetOption, ...]
    total: int = 0
    search: str = ""
    tag: str = ""
    more: int = 0

    @property
    def key(self) -> str:
        return f"{self.name}-{self.tag}" if self.tag else self.name


_KINDS = """
SELECT r.host, r.tags, {values}, {passes} FROM runs r JOIN environment e
ON e.id = r.environment AND e.tool = $tool WHERE r.series_set IN (SELECT unnest($sets::BIGINT[]))
GROUP BY ALL
"""

_HOSTS = """
SELECT slug, name, (counted.id IS NOT NULL)::integer, count(*) OVER ()
FROM runs_host h LEFT JOIN unnest(%(hosts)s::bigint[]) AS counted (id) ON counted.id = h.id
WHERE slug = ANY(%(chosen)s::text[])
    OR counted.id IS NOT NULL AND strpos(lower(name), lower(%(search)s)) > 0
ORDER BY slug = ANY(%(chosen)s::text[]) DESC, name, h.id LIMIT %(most)s
"""


def facets(query: ComparisonQuery, searches: Mapping[str, str] | None = None) -> tuple[Facet, ...]:
    """Return all filters. The count of a value is the number of hosts that pass the other filters.

    Hosts count with any cipher and block size. Selected values are included even if no host has the
    value. `searches`: search text by filter key.
    """
    searches = searches or {}
    rows = _counted_values(query)
    counts = defaultdict[str, dict[Any, int]](dict)
    for name, value, hosts in rows:
        counts[name][value] = hosts
    for name, keys in query.filters.items():
        if name not in DIMENSIONS and name not in ("host", "tag"):
            counts[name] = dict.fromkeys(keys, 0) | counts[name]
    labels = _dimension_labels(counts, query.filters)
    facets = []
    for name, label in FACETS.items():
        chosen, search = query.filters.get(name, ()), searches.get(name, "")
        if name == "host":
            facets.append(_host_facet(counts[name], chosen, search))
        else:
            options = _options(name, counts[name], labels)
            facets.append(_limited(Facet(name, label, options, search=search), chosen))
    tags = {name: values for name, values in counts.items() if name.startswith(TAG_PREFIX)}
    widest = sorted(tags, key=lambda name: (-sum(tags[name].values()), name))[:MOST_TAG_KEYS]
    for name in sorted(widest, key=natural_key):
        key = name.removeprefix(TAG_PREFIX)
        options = tuple(FacetOption(f"{key}:{value}", value, n) for value, n in tags[name].items())
        facet = Facet("tag", f"Tag {key}", options, search=searches.get(f"tag-{key}", ""), tag=key)
        facets.append(_limited(facet, query.filters.get("tag", ())))
    return tuple(facets)


def _counted_values(query: ComparisonQuery) -> list[tuple[str, str, int]]:
    """Return (filter, value, number of hosts). Dimension values and hosts are IDs as text."""
    with analytics() as db:
        statement = runs_statement(replace(query, filters={}, split_by=None))
        statement.parameters["sets"] = list(slots_of_sets(db, query)[1])
        conditions, parameters = filter_conditions(query.filters)
        statement.parameters |= parameters
        passes = {
            facet: (f"passes_{place}", f"coalesce({conditions[facet]}, false)")
            for place, facet in enumerate(conditions)
        }
        values = {name: f"e.{name}" for name in FACETS if name in DIMENSIONS}
        values |= {name: f"r.{name}" for name in ("host", "verdict", "source", "disturbed")}
        statement.ctes["kinds"] = _KINDS.format(
            values=", ".join(f"{column} AS of_{name}" for name, column in values.items()),
            passes=", ".join(f"{condition} AS {own}" for own, condition in passes.values())
            or "true AS passes",
        )
        statement.ctes["keys"] = "SELECT *, unnest(map_keys(tags)) AS tag_key FROM kinds"
        statement.ctes["tagged"] = (
            f"SELECT *, '{TAG_PREFIX}' || tag_key AS facet, tags[tag_key] AS value FROM keys"  # noqa: S608
        )

        def others(facet: str) -> str:
            return " AND ".join(own for name, (own, _) in passes.items() if name != facet) or "true"

        parts = [
            f"SELECT '{name}', of_{name}::VARCHAR, count(DISTINCT host) FROM kinds"  # noqa: S608
            f" WHERE {others(name)} GROUP BY of_{name}"
            for name in values
        ]
        tags = [name for name in passes if name.startswith(TAG_PREFIX)]
        of_key = " ".join(
            f"WHEN '{TAG_PREFIX}' || $tag_key_{number} THEN {others(name)}"
            for number, name in enumerate(tags)
        )
        condition = f"CASE facet {of_key} ELSE {others('')} END" if tags else others("")
        parts.append(
            "SELECT facet, value, count(DISTINCT host) FROM tagged"  # noqa: S608
            f" WHERE {condition} GROUP BY facet, value"
        )
        return db(statement.sql(" UNION ALL ".join(parts)), statement.parameters)


Labels = Mapping[Any, tuple[str, str]]

_NAMES = """
SELECT id, dimension, key, label FROM runs_dimensionvalue
WHERE id = ANY(%s) OR (dimension, key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
"""


def _dimension_labels(
    counts: defaultdict[str, dict[Any, int]], chosen: Mapping[str, tuple[str, ...]]
) -> Labels:
    """Return (key, label) of dimension values by ID.

    Add selected values without hosts to `counts`, with the count 0.
    """
    wanted = [int(value) for name in DIMENSIONS for value in counts.get(name, ())]
    pairs = [(name, key) for name in FACETS if name in DIMENSIONS for key in chosen.get(name, ())]
    columns = [list(column) for column in zip(*pairs, strict=True)] or [[], []]
    names = {}
    with connection.cursor() as cursor:
        cursor.execute(_NAMES, [wanted, *columns])
        rows = cursor.fetchall()
    for pk, name, key, label in rows:
        names[str(pk)] = (key, label)
        counts[name].setdefault(str(pk), 0)
    return names


def _options(name: str, counts: Mapping[str, int], labels: Labels) -> tuple[FacetOption, ...]:
    if name not in DIMENSIONS:
        labels = {value: (value, value.title()) for value in counts}
    return tuple(FacetOption(*labels[value], n) for value, n in counts.items() if value in labels)


def _host_facet(counts: Mapping[str, int], chosen: Collection[str], search: str) -> Facet:
    given: dict[str, Any] = {
        "hosts": list(map(int, counts)),
        "chosen": list(chosen),
        "search": search,
    }
    with connection.cursor() as cursor:
        cursor.execute(_HOSTS, {**given, "most": MOST_OPTIONS})
        rows = cursor.fetchall()
    options = _in_order(FacetOption(*row) for *row, _ in rows)
    more = rows[0][-1] - len(rows) if rows else 0
    total = len(counts) + sum(not option.count for option in options)
    return Facet("host", FACETS["host"], options, total, search, more=more)


def _limited(facet: Facet, chosen: Collection[str]) -> Facet:
    text = facet.search.casefold()
    fitting = [
        option
        for option in facet.options
        if option.key in chosen or text in option.label.casefold()
    ]
    fitting.sort(key=lambda choice: (choice.key not in chosen, -choice.count, choice.label))
    options = _in_order(fitting[:MOST_OPTIONS])
    more = len(fitting) - len(options)
    return replace(facet, options=options, total=len(facet.options), more=more)


def _in_order(options: Iterable[FacetOption]) -> tuple[FacetOption, ...]:
    return tuple(
        sorted(options, key=lambda option: (option.key == UNKNOWN_KEY, natural_key(option.label)))
    )


@dataclass(frozen=True)
class Coverage:
    """List the measured ciphers and block sizes.

    `ciphers`: number of hosts by cipher, most hosts first. `block_sizes`: in bytes; empty for ssh.
    """

    ciphers: Mapping[str, int]
    block_sizes: Sequence[int]


def coverage(query: ComparisonQuery) -> Coverage:
    """Return all measured ciphers and block sizes, even if the query selects only some of them."""
    with analytics() as db:
        all_runs = counted(db, query)
        select = f"""
            SELECT sets, count(*) FROM (
                SELECT list_sort(list(DISTINCT series_set)) AS sets
                FROM {all_runs.runs} GROUP BY host
            ) GROUP BY sets
        """  # noqa: S608 - names of our own
        alike = db(select, {})
    ciphers, sizes = Counter[str](), set[int]()
    for sets, hosts in alike:
        bits = reduce(or_, (all_runs.slots[number] for number in sets))
        slots = [slot for place, slot in enumerate(all_runs.series.slots) if bits >> place & 1]
        ciphers.update(dict.fromkeys({slot.cipher for slot in slots}, hosts))
        sizes.update(slot.block_size for slot in slots if slot.block_size)
    ordered = sorted(ciphers.items(), key=lambda item: (-item[1], item[0]))
    return Coverage(dict(ordered), sorted(sizes))


MOST_PAIRS = 5

_PAIRS = """
WITH member AS (
        SELECT DISTINCT g, host FROM {runs} WHERE g::VARCHAR IS DISTINCT FROM $unknown
    ),
    size AS (SELECT g, count(*) AS hosts FROM member GROUP BY g)
SELECT a.g, b.g, count(*) AS shared, any_value(x.hosts) + any_value(y.hosts) - shared AS hosts
FROM member a JOIN member b ON a.host = b.host AND a.g < b.g
    JOIN size x ON x.g = a.g JOIN size y ON y.g = b.g
GROUP BY a.g, b.g ORDER BY shared DESC, a.g, b.g LIMIT {most}
"""


@dataclass(frozen=True)
class SharedHosts:
    """Count the hosts of two groups.

    `shared`: number of hosts in both groups. `hosts`: number of hosts in at least one of the
    groups.
    """

    first: GroupName
    second: GroupName
    shared: int
    hosts: int

    @property
    def keys(self) -> tuple[str, str]:
        return self.first.key, self.second.key

    @property
    def mostly_different(self) -> bool:
        return 2 * self.shared < self.hosts


def shared_hosts(query: ComparisonQuery) -> list[SharedHosts]:
    """Return the pairs of groups that share the most hosts, at most `MOST_PAIRS` pairs.

    Ignore `split_by`, and exclude the group of hosts for which the value of `group_by` is unknown.
    """
    query = replace(query, split_by=None)
    unknown = member(query.group_by, UNKNOWN_KEY)
    with analytics() as db:
        runs = counted(db, query).runs
        rows = db(_PAIRS.format(runs=runs, most=MOST_PAIRS), {"unknown": unknown})
    names = group_names(query, {(group, 0) for row in rows for group in row[:2]})
    pairs = []
    for group, other, shared, hosts in rows:
        pair = (names[group, 0], names[other, 0])
        first, second = sorted(pair, key=lambda name: group_order(*name[:2]))
        pairs.append(SharedHosts(first, second, shared, hosts))
    return pairs
