"""Runs: the list with its filters, and one run with everything that is known of it."""

from typing import get_args
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from rest_framework.exceptions import ValidationError

from analysis.acceleration import Verdict
from pages.access import reader_page
from pages.compare.filters import FILTER_TITLES
from pages.hosts.environment_facts import environment_facts
from pages.hosts.series import series_page
from pages.page_query import PageAddress, api_params, first_page, query_faults, search_text
from pages.paging import AFTER, BEFORE, page_of_times
from pages.setup.first_steps import agent_command
from questions.comparison_parameters import comparison_query
from questions.unknown_parameters import none_of
from results.comparison.facets import SOURCE_LABELS
from results.hosts.runs import newest_received, run_detail, select_runs, summaries
from results.selection import ComparisonQuery
from store.models import Run
from store.models.run import MEASURED_AT

STATUSES = tuple(Run.Status.values)
VERDICTS = get_args(Verdict)
OWN_FIELDS = ("source", "verdict")


@reader_page
def run_list(request: HttpRequest) -> HttpResponse:
    """Runs, the latest first: by when they were measured."""
    params = request.GET
    try:
        query, fault = comparison_query(api_params(params)), ""
    except ValidationError as error:
        query, fault = ComparisonQuery(), _fault("all runs shown", query_faults(error))
    fault = fault or _wrong_status(params)
    filters = {**query.filters, **_status(params)}
    text = search_text(params)
    found = select_runs(
        filters,
        since=query.since,
        until=query.until,
        text=text,
    )
    page = page_of_times(found, MEASURED_AT, params)
    narrowed = bool(text or filters or query.since or query.until)
    # The top of the list of all runs shows by itself what arrives.
    watches = not (narrowed or page.newer)
    context = {
        "text": text,
        "narrowed": narrowed,
        "watches": watches,
        "newest": newest_received(found) if watches else "",
        "verdicts": VERDICTS,
        "verdict": params.get("verdict", ""),
        "runs": summaries(page.rows),
        "page": page,
        "fault": fault,
        "sources": SOURCE_LABELS,
        "statuses": STATUSES,
        "source": params.get("source", ""),
        "status": params.get("status", ""),
        "dates": {name: params.get(name, "")[:10] for name in ("since", "until")},
        "chips": _chips(params, query),
        "agent_command": agent_command(request),
    }
    return render(request, "pages/runs.html", context, status=400 if fault else 200)


def _status(params: QueryDict) -> dict[str, tuple[str, ...]]:
    asked = tuple(status for status in params.getlist("status") if status in STATUSES)
    return {"status": asked} if asked else {}


def _wrong_status(params: QueryDict) -> str:
    wrong = [one for one in params.getlist("status") if one and one not in STATUSES]
    said = [("status", none_of(one, STATUSES)) for one in wrong[:1]]
    return _fault("runs of every status shown", said) if said else ""


def _fault(shown: str, faults: list[tuple[str, str]]) -> str:
    said = " ".join(f"{name}: {words}" for name, words in faults)
    return f"A filter in this address is not valid: {shown}. {said}"


def _chips(params: QueryDict, query: ComparisonQuery) -> list[tuple[str, str, str, str]]:
    """Filters without a field of their own: name, title, value, the address without it."""
    address = PageAddress(first_page(params, BEFORE, AFTER))
    return [
        (name, FILTER_TITLES[name], value, address.without(name, value))
        for name, values in query.filters.items()
        if name not in OWN_FIELDS
        for value in values
    ]


@reader_page
def run_page(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One run: every series with every try, conditions, environment, provenance."""
    run = run_detail(run_id)
    if run is None:
        raise Http404("There is no such run.")
    context = {
        "run": run.summary,
        "detail": run,
        "facts": environment_facts(run.environment),
        "part": series_page(run.measurements, request.GET),
        "noisy": sum(row.noisy for row in run.measurements),
        "implausible": sum(row.implausible for row in run.measurements),
    }
    return render(request, "pages/run.html", context)
