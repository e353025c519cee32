"""One host, with what it measured last."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from hosts.editing import LONGEST_TEXT
from hosts.history_section import history_section
from pages.access import reader_page
from pages.hosts.environment_facts import environment_facts
from pages.hosts.series import series_page, standing_tables, tool_charts
from recommend.advice import advise
from recommend.forms import Question
from results.hosts.hosts import host_detail
from results.hosts.ssh_efficiency import latest_delivery
from results.hosts.standing import standings
from store.models import FleetChangeMember, Host, HostAlias, Note


@reader_page
def host_page(request: HttpRequest, host_id: int) -> HttpResponse:
    """One host: environment, latest results and their standing, history, recent runs."""
    host = host_detail(host_id)
    if host is None:
        return _where_it_went(host_id)
    notes = list(Note.objects.filter(host=host_id))
    row = Host.objects.get(pk=host_id)
    past = history_section(row, host.results, request.GET, notes)
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
        "open_changes": FleetChangeMember.objects.open_on(host_id),
        "advice": advise(Question(filters={"host": (host.summary.host,)}), reverse("recommend")),
        "notes": notes,
        "longest_note": LONGEST_TEXT,
        **past,
    }
    status = 400 if past.get("history_faults") else 200
    return render(request, "pages/host.html", context, status=status)


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
