"""Two runs or two hosts side by side, and what to put beside one."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from access.reading import sees_unvetted
from pages.access import reader_required
from pages.hosts.diff_page import diff_context, older_first
from results.hosts.diff_subjects import (
    CHOICES,
    Side,
    host_side,
    hosts_beside,
    run_side,
    runs_beside,
)
from results.hosts.hosts import host_summaries, select_hosts
from results.hosts.runs import select_runs, summaries

LONGEST_SEARCH = 200


@require_safe
@reader_required
def run_diff(request: HttpRequest, run_id: UUID, other_id: UUID) -> HttpResponse:
    """Two runs, the older one as the baseline."""
    unvetted = sees_unvetted(request)
    first, second = (run_side(one, unvetted=unvetted) for one in (run_id, other_id))
    if first and second:
        first, second = older_first(first, second)
    return _diff(request, "run", first, second)


@require_safe
@reader_required
def host_diff(request: HttpRequest, host_id: int, other_id: int) -> HttpResponse:
    """Two hosts, each with its latest results, the first as the baseline."""
    return _diff(request, "host", host_side(host_id), host_side(other_id))


def _diff(request: HttpRequest, kind: str, first: Side | None, second: Side | None) -> HttpResponse:
    if first is None or second is None:
        raise Http404(f"There is no such {kind}.")
    context = {"kind": kind, **diff_context(first, second, request.GET)}
    return render(request, "pages/diff.html", context)


@require_safe
@reader_required
def run_diff_choice(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Runs to compare one with: of the same host, or of hosts whose name is searched for."""
    found = select_runs(run_ids=[run_id], unvetted=sees_unvetted(request))
    run = next(iter(summaries(found)), None)
    if run is None:
        raise Http404("There is no such run.")
    named = _search(request)
    context = {"kind": "run", "run": run, "named": named, "most": CHOICES}
    choices = {"runs": runs_beside(run_id, named)}
    return render(request, "pages/diff_choice.html", {**context, **choices})


@require_safe
@reader_required
def host_diff_choice(request: HttpRequest, host_id: int) -> HttpResponse:
    """Hosts to compare one with."""
    host = next(iter(host_summaries(select_hosts().filter(pk=host_id))), None)
    if host is None:
        raise Http404("There is no such host, or it has no run that counts.")
    named = _search(request)
    context = {"kind": "host", "host": host, "named": named, "most": CHOICES}
    choices = {"hosts": hosts_beside(host_id, named)}
    return render(request, "pages/diff_choice.html", {**context, **choices})


def _search(request: HttpRequest) -> str:
    return request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
