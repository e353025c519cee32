"""Hosts: the list, and one host with what it measured last."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from pages.access import reader_required
from pages.environment_facts import environment_facts
from pages.first_steps import agent_command
from pages.paging import page_of
from pages.series import chart_views, sections
from runs.queries.hosts import host_detail, host_summaries, select_hosts


@require_safe
@reader_required
def host_list(request: HttpRequest) -> HttpResponse:
    """Hosts with their latest environment, the one added last first."""
    page = page_of(select_hosts(), request.GET)
    context = {
        "hosts": host_summaries(page.rows),
        "page": page,
        "agent_command": agent_command(request),
    }
    return render(request, "pages/hosts.html", context)


@require_safe
@reader_required
def host_page(request: HttpRequest, host_id: int) -> HttpResponse:
    """One host: environment, latest results, recent runs."""
    host = host_detail(host_id)
    if host is None:
        raise Http404("There is no such host, or it has no run that counts.")
    shown = sections(host.results)
    context = {
        "host": host.summary,
        "facts": environment_facts(host.environment),
        "sections": shown,
        "charts": chart_views(shown),
        "runs": host.recent_runs,
    }
    return render(request, "pages/host.html", context)
