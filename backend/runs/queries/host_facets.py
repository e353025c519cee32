"""The filters of the list of hosts, with the number of hosts that each value leaves."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.comparison import natural_key
from runs.models import DimensionValue
from runs.models.run import COUNTED
from runs.queries.facets import FACETS, Facet, FacetOption
from runs.queries.host_names import NAMED_LIKE
from runs.queries.selection import Where, add_filter, dimension_value
from runs.queries.statements import LATEST_FIRST, fetch_rows
from runs.rollups import Made, Question, maker, rollup

HOST_FILTERS = ("cpu", "os", "openssl_series", "verdict")
"""Names as in `selection.FILTERS`; a host has the values of its latest run."""

# Materialised, because the planner would else look for the latest runs anew for every host.
_LATEST = f"""
WITH latest AS MATERIALIZED (
    SELECT DISTINCT ON (r.host_id) r.host_id, r.environment_id, r.acceleration FROM runs_run r
    WHERE {COUNTED} AND r.host_id IS NOT NULL
    ORDER BY r.host_id, {LATEST_FIRST}
)
"""  # noqa: S608 - constants

_FROM_LATEST = "FROM latest r JOIN runs_environment e ON e.id = r.environment_id"

_KINDS = f"""
{_LATEST}
SELECT e.cpu_id, e.os_id, e.openssl_series_id, {dimension_value("openssl_series", "ssh")},
    r.acceleration, count(*)
{_FROM_LATEST}
JOIN runs_host h ON h.id = r.host_id
WHERE {NAMED_LIKE}
GROUP BY 1, 2, 3, 4, 5
"""


def hosts_of_latest_runs(filters: Mapping[str, tuple[str, ...]]) -> list[int]:
    """The ids of the hosts whose latest run passes the filters (`HOST_FILTERS`)."""
    where = Where([], [])
    for name, values in filters.items():
        add_filter(where, name, values, table="r")
    statement = f"{_LATEST} SELECT r.host_id {_FROM_LATEST} WHERE {where.text}"
    return [host_id for (host_id,) in fetch_rows(statement, where.parameters)]


@dataclass(frozen=True)
class HostFacets:
    """The filters, and how many hosts pass them all."""

    facets: tuple[Facet, ...]
    hosts: int


@dataclass(frozen=True)
class _Kind:
    """Hosts that are alike in every filter; its values in the order of `HOST_FILTERS`.

    Of a filter these hosts may have two: the library of the openssl program, and that of ssh.
    """

    values: tuple[frozenset[FacetOption], ...]
    hosts: int

    def passes(self, filters: Mapping[str, tuple[str, ...]], without: str = "") -> bool:
        """Whether these hosts pass all filters but one."""
        return all(
            any(value.key in filters[name] for value in values)
            for name, values in zip(HOST_FILTERS, self.values, strict=True)
            if name != without and filters.get(name)
        )


def host_facets(text: str, filters: Mapping[str, tuple[str, ...]]) -> HostFacets:
    """The filters of the hosts whose name has this text, each counted under all others."""
    kinds = _kinds(text)
    return HostFacets(
        tuple(_facet(name, number, kinds, filters) for number, name in enumerate(HOST_FILTERS)),
        sum(kind.hosts for kind in kinds if kind.passes(filters)),
    )


@maker("kinds of hosts")
def _make_kinds(_question: Question) -> Made:
    return Made({"rows": fetch_rows(_KINDS, ["", ""])})


def _kinds(text: str) -> list[_Kind]:
    rows = fetch_rows(_KINDS, [text, text]) if text else rollup("kinds of hosts", {})["rows"]
    wanted = {pk for *values, _, _ in rows for pk in values}
    known = {
        pk: FacetOption(value.key, value.label, 0)
        for pk, value in DimensionValue.objects.in_bulk(wanted).items()
    }
    return [
        _Kind(
            (
                frozenset({known[cpu]}),
                frozenset({known[os]}),
                frozenset({known[series], known[ssh_series]}),
                frozenset({FacetOption(verdict, verdict, 0)}),
            ),
            hosts,
        )
        for cpu, os, series, ssh_series, verdict, hosts in rows
    ]


def _facet(
    name: str, number: int, kinds: Sequence[_Kind], filters: Mapping[str, tuple[str, ...]]
) -> Facet:
    labels = {value.key: value.label for kind in kinds for value in kind.values[number]}
    counts = Counter[str]()
    for kind in kinds:
        if kind.passes(filters, without=name):
            counts.update({value.key: kind.hosts for value in kind.values[number]})
    chosen = {key: 0 for key in filters.get(name, ()) if key not in counts}
    options = [
        FacetOption(key, labels.get(key, key), count) for key, count in {**counts, **chosen}.items()
    ]
    return Facet(
        name, FACETS[name], tuple(sorted(options, key=lambda option: natural_key(option.label)))
    )
