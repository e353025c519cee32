"""Edit runs, with a confirmation page before each change."""

from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from core.access import FORM, permission_page
from core.paging import page_of
from core.views.confirm import Confirmation, confirm
from runs import editing
from runs.models import Run


def _about(run: Run) -> str:
    date = f"{run.started_at:%Y-%m-%d %H:%M} UTC" if run.started_at else "an unknown date"
    return f"the run of {run.host_name} of {date}"


@permission_page("runs.change_run", *FORM)
def hide_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = get_object_or_404(Run, run_id=run_id)
    confirmation = Confirmation(
        "Hide this run",
        _about(run),
        (
            "The run disappears from all lists, charts, comparisons and exports.",
            "No data is lost. You can show it again from the list of hidden runs.",
        ),
        "Hide it",
        reverse("run-page", args=[run_id]),
        f"Hidden: {_about(run)}.",
        reverse("show-run", args=[run_id]),
    )
    done = reverse("hidden-runs")
    return confirm(request, confirmation, partial(editing.set_hidden, run.pk, True), done)


@permission_page("runs.change_run", *FORM)
def show_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = get_object_or_404(Run, run_id=run_id)
    confirmation = Confirmation(
        "Show this run again",
        _about(run),
        ("It counts in all lists and statistics again.",),
        "Show it",
        reverse("hidden-runs"),
        f"Shown again: {_about(run)}.",
    )
    done = reverse("run-page", args=[run_id])
    return confirm(request, confirmation, partial(editing.set_hidden, run.pk, False), done)


@permission_page("runs.delete_run", *FORM)
def remove_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = get_object_or_404(Run, run_id=run_id)
    confirmation = Confirmation(
        "Remove this run for good",
        _about(run),
        (
            "The run, its figures and its document as received are deleted. This cannot be undone.",
            "To take it out of the charts alone, hide it instead.",
            "The audit log keeps who removed it, its host and its time, and none of its figures.",
        ),
        "Remove it for good",
        reverse("hidden-runs" if run.hidden else "run-page", args=[] if run.hidden else [run_id]),
        f"Removed for good: {_about(run)}.",
    )
    done = reverse("run-pages")
    return confirm(request, confirmation, partial(editing.remove_run, run.pk), done)


@require_safe
@permission_page("runs.change_run")
def hidden_run_list(request: HttpRequest) -> HttpResponse:
    page = page_of(Run.objects.filter(hidden=True).select_related("host"), request.GET)
    return render(request, "runs/hidden_runs.html", {"page": page, "runs": page.rows})
