"""Pages of the list of runs and of a run."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render

from compare.views.filters import FILTER_TITLES
from core.access import reader_page
from core.first_steps import agent_command
from core.page_query import PageAddress, first_page
from core.paging import CURSOR, page_of
from hosts.views.series import series_page
from runs.filters import FILTERS, VERDICTS, RunFilter
from runs.models import Run
from runs.views.environment_facts import environment_facts

OWN_FIELDS = ("source", "verdict")


@reader_page
def run_list(request: HttpRequest) -> HttpResponse:
    """List runs, latest measurement first, ignoring invalid filters."""
    params = request.GET
    filters = RunFilter(params, Run.objects.listed())
    page = page_of(filters.qs, params, "-moment", "-id")
    narrowed = bool(filters.given)
    # The unfiltered first page refreshes itself.
    watches = not (narrowed or page.newer)
    context = {
        "filters": filters,
        "narrowed": narrowed,
        "watches": watches,
        "newest": filters.qs.values_list("run_id", flat=True).first() if watches else "",
        "verdicts": VERDICTS,
        "runs": page.rows,
        "page": page,
        "sources": dict(Run.Source.choices),
        "statuses": Run.Status.values,
        "dates": {name: params.get(name, "")[:10] for name in ("since", "until")},
        "chips": _chips(params, filters.given),
        "agent_command": agent_command(request),
    }
    status = 400 if filters.errors else 200
    return render(request, "runs/runs.html", context, status=status)


def _chips(params: QueryDict, given: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return active filters without a control: name, title, value, and URL without it."""
    address = PageAddress(first_page(params, CURSOR))
    return [
        (name, FILTER_TITLES[name], value, address.without(name, value))
        for name in FILTERS
        if name not in OWN_FIELDS
        for value in given.get(name, ())
    ]


@reader_page
def run_page(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show a run with series, tries, conditions, environment and provenance."""
    run = get_object_or_404(Run.objects.detailed(), run_id=run_id)
    measurements = list(run.measurements.shown(tries=True))
    context = {
        "run": run,
        "facts": environment_facts(run.document.environment),
        "part": series_page(measurements, request.GET),
        "noisy": sum(row.noisy for row in measurements),
        "implausible": sum(row.implausible for row in measurements),
    }
    return render(request, "runs/run.html", context)
