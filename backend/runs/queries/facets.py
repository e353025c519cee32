"""What there is to choose from: filter values with counts, ciphers, block sizes."""

from dataclasses import dataclass

from analysis.comparison import natural_key
from documents.naming import UNKNOWN_KEY
from runs.queries.selection import (
    ComparisonQuery,
    grouping,
    measurement_conditions,
    run_conditions,
    series_conditions,
)
from runs.queries.statements import FROM, fetch_rows

MACHINES = "count(DISTINCT (r.host_id, r.environment_id))"

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

    `tag` is the key of the tag that it is about, for the parameter `tag` alone.
    """

    name: str
    label: str
    options: tuple[FacetOption, ...]
    tag: str = ""


@dataclass(frozen=True)
class CipherCount:
    """A cipher and how many (host, environment) pairs measured it."""

    cipher: str
    machines: int


def _facet(query: ComparisonQuery, name: str) -> Facet:
    """Counts under all other filters, so that a second value can be added to a filter."""
    where = run_conditions(query, without=name)
    key, label, join = ("r.source", "r.source", "")
    if name != "source":
        group = grouping("acceleration" if name == "verdict" else name)
        key, label, join = group.key, group.label, group.join
    rows = fetch_rows(
        f"SELECT {key}, min({label}), {MACHINES} {FROM} {join} WHERE {where.text} GROUP BY {key}",
        where.parameters,
    )
    options = [FacetOption(key, SOURCE_LABELS.get(key, label), count) for key, label, count in rows]
    return Facet(name, FACETS[name], _in_order(options))


def _in_order(options: list[FacetOption]) -> tuple[FacetOption, ...]:
    return tuple(
        sorted(
            options,
            key=lambda option: (option.key == UNKNOWN_KEY, natural_key(option.label)),
        )
    )


def tag_facets(query: ComparisonQuery) -> tuple[Facet, ...]:
    """A filter for each tag key, counted under all filters but the tags; few keys at most."""
    where = run_conditions(query, without="tag")
    rows = fetch_rows(
        f"SELECT t.key, t.value, {MACHINES} {FROM}"
        f" CROSS JOIN LATERAL jsonb_each_text(r.tags) t WHERE {where.text} GROUP BY t.key, t.value",
        where.parameters,
    )
    by_key: dict[str, list[FacetOption]] = {}
    for key, value, count in rows:
        by_key.setdefault(key, []).append(FacetOption(f"{key}:{value}", value, count))
    widest = sorted(by_key, key=lambda key: -sum(option.count for option in by_key[key]))
    return tuple(
        Facet("tag", f"Tag {key}", _in_order(by_key[key]), tag=key)
        for key in sorted(widest[:MOST_TAG_KEYS], key=natural_key)
    )


def facets(query: ComparisonQuery) -> tuple[Facet, ...]:
    """Every filter with its values, counted under the query's other filters."""
    return (*(_facet(query, name) for name in FACETS), *tag_facets(query))


def measured_ciphers(query: ComparisonQuery) -> tuple[CipherCount, ...]:
    """The ciphers that the query's series exist for, the most widely measured first."""
    where = series_conditions(query)
    rows = fetch_rows(
        f"SELECT s.cipher, {MACHINES} {FROM} WHERE {where.text}"
        " GROUP BY s.cipher ORDER BY 2 DESC, 1",
        where.parameters,
    )
    return tuple(CipherCount(cipher, machines) for cipher, machines in rows)


def block_sizes(query: ComparisonQuery) -> tuple[int, ...]:
    """The block sizes measured by openssl under the query's filters, ascending."""
    if query.tool != "openssl":
        return ()
    where = series_conditions(query)
    rows = fetch_rows(
        f"SELECT DISTINCT s.block_size {FROM} WHERE {where.text} ORDER BY 1",
        where.parameters,
    )
    return tuple(row[0] for row in rows)


def machine_count(query: ComparisonQuery) -> int:
    """How many (host, environment) pairs measured any of the query's series and ciphers."""
    where = measurement_conditions(query)
    rows = fetch_rows(f"SELECT {MACHINES} {FROM} WHERE {where.text}", where.parameters)
    return int(rows[0][0])
