"""One host, with what it measured last."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from rest_framework.exceptions import ValidationError

from compare.files import csv_response, csv_rows
from hosts.editing import LONGEST_TEXT
from pages.access import reader_page
from pages.changes import shown_changes
from pages.hosts.environment_facts import environment_facts
from pages.hosts.history import history_context
from pages.hosts.history_lines import history_rows
from pages.hosts.series import series_page, standing_tables, tool_charts
from pages.page_query import query_faults
from recommend.advice import advise
from recommend.forms import Question
from results.hosts.fleet_changes import open_changes_of
from results.hosts.hosts import HostDetail, host_detail
from results.hosts.ssh_efficiency import latest_delivery
from results.hosts.standing import standings
from store.models import Host, HostAlias, Note


@reader_page
def host_page(request: HttpRequest, host_id: int) -> HttpResponse:
    """One host: environment, latest results and their standing, history, recent runs."""
    host = host_detail(host_id)
    if host is None:
        return _where_it_went(host_id)
    notes = list(Note.objects.filter(host=host_id))
    past, faults = _history(host, notes, request)
    charts = tool_charts(host.latest)
    context = {
        "host": host.summary,
        "aliases": HostAlias.objects.filter(host=host_id),
        "facts": environment_facts(host.environment),
        "part": series_page(host.results, request.GET),
        "charts": charts,
        "runs": host.recent_runs,
        "standings": standing_tables(standings(host_id, host.latest)),
        "doubts": any(chart.doubts for chart in charts),
        "delivery": latest_delivery(host_id),
        "open_changes": shown_changes(open_changes_of(host_id)),
        "advice": advise(Question(filters={"host": (host.summary.host,)}), reverse("recommend")),
        "history_faults": faults,
        "notes": notes,
        "longest_note": LONGEST_TEXT,
        **past,
    }
    return render(request, "pages/host.html", context, status=400 if faults else 200)


@reader_page
def history_csv(request: HttpRequest, host_id: int) -> HttpResponseBase:
    """Every line of the history as a file; where it cannot be, the page that says so."""
    host = host_detail(host_id)
    if host is None:
        return _where_it_went(host_id)
    try:
        lines = history_context(host.summary.host, host.results, request.GET).get("lines")
    except ValidationError:
        return host_page(request, host_id)
    if not lines:
        raise Http404("This host has no history.")
    return csv_response(csv_rows(history_rows(lines)), "ciphermark-history")


@reader_page
def host_by_key(request: HttpRequest, key: str) -> HttpResponse:
    """Lead to the page of the host with this key, a merged one's too."""
    host = Host.objects.find(key)
    if host is None or host.latest_run_id is None:
        raise Http404("There is no such host, or it has no run that counts.")
    return redirect("host-page", host.pk)


def _where_it_went(host_id: int) -> HttpResponse:
    """Lead to the host that this one was merged into."""
    host = Host.objects.find(str(host_id))
    if host is None or host.pk == host_id:
        raise Http404("There is no such host, or it has no run that counts.")
    return redirect("host-page", host.pk)


def _history(
    host: HostDetail, notes: Sequence[Note], request: HttpRequest
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The history that the address asks for; else what is wrong with it, and the default one."""
    try:
        return history_context(host.summary.host, host.results, request.GET, notes), []
    except ValidationError as error:
        plain = history_context(host.summary.host, host.results, QueryDict(), notes)
        return plain, query_faults(error)
