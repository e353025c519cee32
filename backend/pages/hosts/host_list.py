"""The list of hosts: which of them, in which order, a page at a time."""

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from pages.page_query import search_text
from pages.paging import LATEST_ADDED, Order, page_of
from questions.parameters import MAX_LENGTH
from results.hosts.host_facets import HOST_FILTERS, host_facets
from results.hosts.hosts import find_hosts, summaries_of


@dataclass(frozen=True)
class Sort:
    """A choice of the sort field."""

    key: str
    label: str
    order: Order


SORTS = (
    Sort("", "Newest", LATEST_ADDED),
    Sort("name", "Name", Order("sort_name", descending=False)),
    Sort("latest", "Latest run", Order("sort_latest", descending=True)),
    Sort("runs", "Most runs", Order("sort_runs", descending=True)),
)


def host_list_context(params: QueryDict) -> dict[str, Any]:
    """Everything the list says but how a machine is added."""
    text, filters = search_text(params), _filters(params)
    sort = next((one for one in SORTS if one.key == params.get("sort", "")), SORTS[0])
    known = host_facets(text, filters)
    page = page_of(find_hosts(text, filters, sort.order.field), params, sort.order)
    return {
        "hosts": summaries_of(page.rows),
        "page": page,
        "text": text,
        "facets": [(facet, _chosen(filters, facet.name)) for facet in known.facets],
        "total": known.hosts,
        "narrowed": bool(text or filters),
        "sorts": SORTS,
        "sort": sort,
    }


def _filters(params: QueryDict) -> dict[str, tuple[str, ...]]:
    found = {name: tuple(_keys(params, name)) for name in HOST_FILTERS}
    return {name: keys for name, keys in found.items() if keys}


def _keys(params: QueryDict, name: str) -> list[str]:
    keys = params.getlist(name)
    return [key for key in keys if key and len(key) <= MAX_LENGTH and "\x00" not in key]


def _chosen(filters: dict[str, tuple[str, ...]], name: str) -> tuple[str, ...]:
    return filters.get(name, ())
