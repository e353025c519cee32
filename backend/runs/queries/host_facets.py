"""The filters of the list of hosts, with the number of hosts that each value leaves."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.comparison import natural_key
from runs.models import DimensionValue
from runs.queries.facets import FACETS, Facet, FacetOption
from runs.queries.host_names import NAMED_LIKE
from runs.queries.selection import COUNTED, Where, add_filter
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
SELECT e.cpu_id, e.os_id, e.openssl_series_id, r.acceleration, count(*)
{_FROM_LATEST}
JOIN runs_host h ON h.id = r.host_id
WHERE {NAMED_LIKE}
GROUP BY e.cpu_id, e.os_id, e.openssl_series_id, r.acceleration
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
    """Hosts that are alike in every filter; its values in the order of `HOST_FILTERS`."""

    values: tuple[FacetOption, ...]
    hosts: int

    def passes(self, filters: Mapping[str, tuple[str, ...]], without: str = "") -> bool:
        """Whether these hosts pass all filters but one."""
        return all(
            value.key in filters[name]
            for name, value in zip(HOST_FILTERS, self.values, strict=True)
            if name != without and filters.get(name)
        )


def host_facets(text: str, filters: Mapping[str, tuple[str, ...]]) -> HostFacets:
    """The filters of the hosts whose name has this text, each counted under all others."""
    kinds = _kinds(text)
    return HostFacets(
        tuple(_facet(name, number, kinds, filters) for number, name in enumerate(HOST_FILTERS)),
        sum(kind.hosts for kind in kinds if kind.passes(filters)),
    )


@maker("host kinds")
def _make_kinds(_question: Question) -> Made:
    return Made({"rows": fetch_rows(_KINDS, ["", ""])})


def _kinds(text: str) -> list[_Kind]:
    rows = fetch_rows(_KINDS, [text, text]) if text else rollup("host kinds", {})["rows"]
    wanted = {pk for *values, _, _ in rows for pk in values}
    known = DimensionValue.objects.in_bulk(wanted)
    return [
        _Kind(
            (
                *(FacetOption(known[pk].key, known[pk].label, 0) for pk in values),
                FacetOption(verdict, verdict, 0),
            ),
            hosts,
        )
        for *values, verdict, hosts in rows
    ]


def _facet(
    name: str, number: int, kinds: Sequence[_Kind], filters: Mapping[str, tuple[str, ...]]
) -> Facet:
    labels: dict[str, str] = {kind.values[number].key: kind.values[number].label for kind in kinds}
    counts = Counter[str]()
    for kind in kinds:
        if kind.passes(filters, without=name):
            counts[kind.values[number].key] += kind.hosts
    chosen = {key: 0 for key in filters.get(name, ()) if key not in counts}
    options = [
        FacetOption(key, labels.get(key, key), count) for key, count in {**counts, **chosen}.items()
    ]
    return Facet(
        name, FACETS[name], tuple(sorted(options, key=lambda option: natural_key(option.label)))
    )
