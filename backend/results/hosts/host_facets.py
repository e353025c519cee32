"""The filters of the list of hosts, with the number of hosts that each value leaves."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.comparison import natural_key
from compare.facets import FACETS, Facet, FacetOption
from results.analytics.engine import questions
from results.figures import filter_condition
from store.models import DimensionValue, Host

HOST_FILTERS = ("cpu", "os", "openssl_series", "verdict")
"""Names as in `selection.FILTERS`; a host has the values of its latest run."""

LATEST = """
WITH latest AS (
    SELECT host, arg_max(id, moment) AS run, arg_max(environment, moment) AS environment,
        arg_max(verdict, moment) AS verdict, max(started) AS started, count(*) AS runs
    FROM run GROUP BY host
)
"""
"""Of every host its latest run, when that started (NULL: unknown), and how many runs it has."""

_KINDS = f"""
{LATEST}
SELECT e.cpu, e.os, e.openssl_series, of_ssh.openssl_series, r.verdict, count(*)
FROM latest r
JOIN environment e ON e.id = r.environment AND e.tool = 'openssl'
JOIN environment of_ssh ON of_ssh.id = r.environment AND of_ssh.tool = 'ssh'
WHERE {{named}} GROUP BY ALL
"""  # noqa: S608 - constants


def of_latest_runs(filters: Mapping[str, tuple[str, ...]]) -> tuple[str, dict[str, Any]]:
    """SQL: whether the latest run of a host (r.host) passes the filters; its parameters.

    One of two environments is enough: that of openssl, or that of ssh.
    """
    conditions, parameters = ["true"], dict[str, Any]()
    for name, values in filters.items():
        condition, more = filter_condition(name, values)
        conditions.append(condition)
        parameters |= more
    hosts = "SELECT r.host FROM latest r JOIN environment e ON e.id = r.environment"
    return f"r.host IN ({hosts} WHERE {' AND '.join(conditions)})", parameters


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


def _kinds(text: str) -> list[_Kind]:
    named = Host.objects.named_like(text).values_list("pk", flat=True)
    condition = f"r.host IN ({', '.join(map(str, [0, *named]))})" if text else "true"
    with questions() as ask:
        rows = ask(_KINDS.format(named=condition), {})
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
