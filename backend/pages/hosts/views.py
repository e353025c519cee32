"""Hosts: the list, and one host with what it measured last."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from rest_framework.exceptions import ValidationError

from pages.access import reader_required
from pages.first_steps import agent_command
from pages.hosts.environment_facts import environment_facts
from pages.hosts.history import history_context
from pages.hosts.series import series_page, standing_tables, tool_charts
from pages.page_query import query_faults, search_text
from pages.paging import LATEST_ADDED, Order, page_of
from pages.recommend import headline
from questions.parameters import MAX_LENGTH
from results.hosts.former_hosts import present_id, present_keys
from results.hosts.host_facets import HOST_FILTERS, host_facets
from results.hosts.hosts import HostDetail, find_hosts, host_detail, select_hosts, summaries_of
from results.hosts.ssh_efficiency import latest_delivery
from results.hosts.standing import standings
from results.recommendation.advice import advise
from results.recommendation.question import of_host


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


@require_safe
@reader_required
def host_list(request: HttpRequest) -> HttpResponse:
    """Hosts with their latest environment: searched, filtered and sorted as the address says."""
    params = request.GET
    text, filters = search_text(params), _filters(params)
    sort = next((one for one in SORTS if one.key == params.get("sort", "")), SORTS[0])
    known = host_facets(text, filters)
    page = page_of(find_hosts(text, filters, sort.order.field), params, sort.order)
    context = {
        "hosts": summaries_of(page.rows),
        "page": page,
        "text": text,
        "facets": [(facet, filters.get(facet.name, ())) for facet in known.facets],
        "total": known.hosts,
        "narrowed": bool(text or filters),
        "sorts": SORTS,
        "sort": sort,
        "agent_command": agent_command(request),
    }
    return render(request, "pages/hosts.html", context)


def _filters(params: QueryDict) -> dict[str, tuple[str, ...]]:
    found = {name: tuple(_keys(params, name)) for name in HOST_FILTERS}
    return {name: keys for name, keys in found.items() if keys}


def _keys(params: QueryDict, name: str) -> list[str]:
    keys = params.getlist(name)
    return [key for key in keys if key and len(key) <= MAX_LENGTH and "\x00" not in key]


@require_safe
@reader_required
def host_page(request: HttpRequest, host_id: int) -> HttpResponse:
    """One host: environment, latest results and their standing, history, recent runs."""
    host = host_detail(host_id)
    if host is None:
        return _where_it_went(host_id)
    past, faults = _history(host, request)
    charts = tool_charts(host.latest)
    context = {
        "host": host.summary,
        "facts": environment_facts(host.environment),
        "part": series_page(host.results, request.GET),
        "charts": charts,
        "runs": host.recent_runs,
        "standings": standing_tables(standings(host_id, host.latest)),
        "doubts": any(chart.doubts for chart in charts),
        "delivery": latest_delivery(host_id),
        **_recommendation(host.summary.host),
        "history_faults": faults,
        **past,
    }
    return render(request, "pages/host.html", context, status=400 if faults else 200)


@require_safe
@reader_required
def host_by_key(request: HttpRequest, key: str) -> HttpResponse:
    """The page of the host with this key, a former one too, or of which this was a name."""
    (present,) = present_keys([key]) if "\x00" not in key else ("",)
    host = get_object_or_404(select_hosts(), slug=present)
    return redirect("host-page", host.pk)


def _where_it_went(host_id: int) -> HttpResponse:
    """The host that this one was merged into."""
    present = present_id(host_id)
    if present is None:
        raise Http404("There is no such host, or it has no run that counts.")
    return redirect("host-page", present)


def _history(
    host: HostDetail, request: HttpRequest
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The history that the address asks for; else what is wrong with it, and the default one."""
    try:
        return history_context(host.summary.host, host.results, request.GET), []
    except ValidationError as error:
        plain = history_context(host.summary.host, host.results, QueryDict())
        return plain, query_faults(error)


def _recommendation(key: str) -> dict[str, Any]:
    """The host's first cipher and what it gains, or why there is none; why to measure again."""
    advice = advise(of_host(key), reverse("recommend"), timezone.now())
    return {"recommendation": headline(advice), "recommendation_caution": advice.caution}
