"""The list of hosts: searched, filtered and ordered as the address says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from compare.facets import Facet
from hosts.filters import HostForm
from pages.access import reader_page
from pages.page_query import PageAddress
from pages.paging import CURSOR, page_of_ids
from pages.setup.first_steps import agent_command
from results.analytics.engine import questions
from results.hosts.host_facets import host_facets
from results.hosts.host_list import NEWEST
from results.hosts.hosts import summaries_of
from runs.filters import VERDICTS

TEMPLATE = "pages/hosts.html"

LOST = ("hidden", "unused")
"""Verdicts on hosts that have AES hardware and do not use it."""


@dataclass(frozen=True)
class Column:
    """A column of the list; its heading orders by `ordering`, or in the other direction."""

    ordering: str
    label: str
    number: bool = False

    @property
    def field(self) -> str:
        """What it orders by."""
        return self.ordering.removeprefix("-")


COLUMNS = (
    Column("name", "Host"),
    Column("acceleration", "AES acceleration"),
    Column("-speed_index", "Speed index", number=True),
    Column("cpu", "CPU"),
    Column("os", "Operating system"),
    Column("openssl", "OpenSSL"),
    Column("openssh", "OpenSSH"),
    Column("-runs", "Runs", number=True),
    Column("-last_run_at", "Latest run"),
)


@dataclass(frozen=True)
class Heading:
    """A column's heading: where it leads, and how the list is ordered by it now, if it is."""

    column: Column
    address: str
    sorted: str


@reader_page
def host_list(request: HttpRequest) -> HttpResponse:
    """Hosts with their latest environment, the verdict on AES, its reason and what to do."""
    params = request.GET
    form = HostForm(params)
    if form.errors:
        return render(request, TEMPLATE, {"faults": form.faults()}, status=400)
    text, filters, ordering = form.given.get("q", ""), form.filters, form.order
    with questions():  # which share the search for names
        known = host_facets(text, filters)
        hosts = form.hosts
    page = page_of_ids(hosts, params, by_age=ordering == NEWEST)
    context = {
        "hosts": summaries_of(page.rows),
        "page": page,
        "text": text,
        "ordering": ordering,
        "newest": PageAddress(params).changed(ordering=None, **_FIRST),
        "facets": [
            (facet, filters.get(facet.name, ()))
            for facet in known.facets
            if facet.name != "verdict"
        ],
        **_verdicts(known.facets, filters, params),
        "total": known.hosts,
        "narrowed": bool(text or filters),
        "headings": list(_headings(ordering, params)),
        "agent_command": agent_command(request),
    }
    return render(request, TEMPLATE, context)


_FIRST: Mapping[str, None] = {CURSOR: None}


def _verdicts(
    facets: Iterable[Facet], filters: Mapping[str, tuple[str, ...]], params: QueryDict
) -> dict[str, Any]:
    """The verdicts to choose from, and how many hosts lose AES hardware under the other filters."""
    counts = {
        option.key: option.count
        for facet in facets
        if facet.name == "verdict"
        for option in facet.options
    }
    chosen = filters.get("verdict", ())
    return {
        "verdicts": [(name, counts[name], name in chosen) for name in VERDICTS if name in counts],
        "lost": [(name, counts[name]) for name in LOST if counts.get(name)],
        "lost_count": sum(counts.get(name, 0) for name in LOST),
        "lost_shown": bool(chosen) and set(chosen) <= set(LOST),
        "lost_address": PageAddress(params).changed(verdict=LOST, **_FIRST),
    }


def _headings(ordering: str, params: QueryDict) -> Iterable[Heading]:
    """Each leads to the list by it, best or first on top; once more, the other way round."""
    for column in COLUMNS:
        is_sorted = ordering.removeprefix("-") == column.field
        turned = column.field if ordering.startswith("-") else f"-{column.field}"
        address = PageAddress(params).changed(
            ordering=turned if is_sorted else column.ordering, **_FIRST
        )
        direction = "descending" if ordering.startswith("-") else "ascending"
        yield Heading(column, address, direction if is_sorted else "")
