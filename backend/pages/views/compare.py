"""The compare page, `/`."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework.exceptions import ValidationError

from access.reading import sees_unvetted
from analysis.group_view import MOST_GROUPS
from pages.access import reader_required
from pages.compare.compare_page import form_context, query_faults
from pages.compare.compare_parts import compare_parts
from pages.compare.saved_views import view_menu
from pages.first_steps import agent_command, is_measuring, lending_command, nobody_measured_yet
from pages.page_query import TOPS, api_params, display
from questions.requested_ciphers import asked_comparison
from results.hosts.hidden import shown_runs
from results.hosts.runs import latest_received, select_runs
from results.selection import ComparisonQuery
from store.models import Run
from store.reference_profiles import UnknownProfile

TEMPLATE = "pages/compare.html"

MOST_ARRIVING = 5
"""Runs that the first steps name while they are being processed."""


@require_safe
@reader_required
def compare_page(request: HttpRequest) -> HttpResponse:
    """Machines side by side; a parameter that cannot be is answered 400 and in words."""
    try:
        query = asked_comparison(api_params(request.GET))
        steps = _first_steps(request)
        context = {
            "parts": compare_parts(
                request.GET, query, nothing_stored=steps.get("nothing_stored", False)
            ),
            "display": display(request.GET),
            "tops": TOPS,
            "most_groups": MOST_GROUPS,
            **steps,
            "view_menu": view_menu(request.user, request.GET),
            "address": request.build_absolute_uri(),
        }
    except ValidationError as error:
        return _refused(request, query_faults(error))
    except UnknownProfile as error:
        return _refused(request, [("profile", error.sentence)])
    return render(request, TEMPLATE, context)


def _first_steps(request: HttpRequest) -> dict[str, Any]:
    """Until an agent has measured a machine, the page says how to do that."""
    if not nobody_measured_yet():
        return {}
    latest = latest_received(shown_runs(unvetted=sees_unvetted(request)), MOST_ARRIVING)
    return {
        "first_steps": True,
        "agent_command": agent_command(request),
        "lending_command": lending_command(request),
        "measuring": is_measuring(),
        "nothing_stored": not select_runs({"status": (Run.Status.READY.value,)}).exists(),
        "newest": latest[0].run_id if latest else "",
        "arriving": [run for run in latest if run.status == Run.Status.ACCEPTED],
    }


def _refused(request: HttpRequest, faults: list[tuple[str, str]]) -> HttpResponse:
    context = form_context(request.GET, ComparisonQuery(), display(request.GET))
    return render(request, TEMPLATE, {**context, "faults": faults}, status=400)
