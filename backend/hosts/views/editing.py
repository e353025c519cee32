"""What editors do to runs and hosts: each on a page that says what will happen, then by POST."""

from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from core.access import FORM, editors
from core.page_query import search_text
from core.paging import page_of
from core.views.confirm import Confirmation, confirm
from hosts import editing
from hosts.views.side_by_side import CHOICES, hosts_beside
from runs.models import Host, HostAlias, Run


def _about(run: Run) -> str:
    date = f"{run.started_at:%Y-%m-%d %H:%M} UTC" if run.started_at else "an unknown date"
    return f"the run of {run.host_name} of {date}"


@editors("runs.change_run", *FORM)
def hide_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = get_object_or_404(Run, run_id=run_id)
    confirmation = Confirmation(
        "Hide this run",
        _about(run),
        (
            "It leaves every list, chart, comparison and export at once.",
            "Nothing of it is lost: it can be shown again from the list of hidden runs.",
        ),
        "Hide it",
        reverse("run-page", args=[run_id]),
        f"Hidden: {_about(run)}.",
        reverse("show-run", args=[run_id]),
    )
    done = reverse("hidden-runs")
    return confirm(request, confirmation, partial(editing.set_hidden, run.pk, True), done)


@editors("runs.change_run", *FORM)
def show_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = get_object_or_404(Run, run_id=run_id)
    confirmation = Confirmation(
        "Show this run again",
        _about(run),
        ("It counts again wherever it belongs.",),
        "Show it",
        reverse("hidden-runs"),
        f"Shown again: {_about(run)}.",
    )
    done = reverse("run-page", args=[run_id])
    return confirm(request, confirmation, partial(editing.set_hidden, run.pk, False), done)


@editors("runs.delete_run", *FORM)
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
@editors("runs.change_run")
def hidden_run_list(request: HttpRequest) -> HttpResponse:
    page = page_of(Run.objects.filter(hidden=True).select_related("host"), request.GET)
    return render(request, "runs/hidden_runs.html", {"page": page, "runs": page.rows})


@editors("runs.change_host", *FORM)
def rename_host(request: HttpRequest, host_id: int) -> HttpResponse:
    host = get_object_or_404(Host, pk=host_id)
    back = reverse("host-page", args=[host_id])
    confirmation = Confirmation(
        "Rename this host",
        host.name,
        (
            "Uploads that come under its present name still reach it.",
            "Addresses and filters keep its key, so that old links hold.",
        ),
        "Rename it",
        back,
        f"Renamed; it was {host.name}.",
        name=host.name,
    )
    name = request.POST.get("name", "")
    return confirm(request, confirmation, partial(editing.rename_host, host.pk, name), back)


@require_safe
@editors("runs.change_host")
def merge_choice(request: HttpRequest, host_id: int) -> HttpResponse:
    host = get_object_or_404(Host.objects.counted(), pk=host_id)
    named = search_text(request.GET)
    context = {
        "host": host,
        "named": named,
        "most": CHOICES,
        "hosts": [other for other in hosts_beside(host, named) if not other.published],
    }
    return render(request, "hosts/merge_choice.html", context)


@editors("runs.change_host", *FORM)
def merge_hosts(request: HttpRequest, host_id: int, other_id: int) -> HttpResponse:
    host, other = get_object_or_404(Host, pk=host_id), get_object_or_404(Host, pk=other_id)
    moved = Run.objects.filter(host=other).count()
    confirmation = Confirmation(
        f"Merge “{other.name}” into “{host.name}”",
        f"{other.name} ({other.slug}) becomes part of {host.name} ({host.slug})",
        (
            f"All its runs move ({moved}); none of their figures change.",
            "Later uploads of the merged machine under its name follow.",
            "The runs cannot be moved back; the audit log keeps which were moved.",
        ),
        "Merge them",
        reverse("merge-host-choice", args=[host_id]),
        f"Merged: the {moved} run{'' if moved == 1 else 's'} of {other.name} are here now.",
    )
    done = reverse("host-page", args=[host_id])
    return confirm(request, confirmation, partial(editing.merge_hosts, host.pk, other.pk), done)


@editors("runs.change_host", *FORM)
def remove_alias(request: HttpRequest, alias_id: int) -> HttpResponse:
    """Have later uploads under a merged or former identity make a host of their own."""
    alias = get_object_or_404(HostAlias.objects.select_related("host"), pk=alias_id)
    back = reverse("host-page", args=[alias.host_id])
    confirmation = Confirmation(
        f"Stop following “{alias.name}”",
        f"{alias.host.name} ({alias.host.slug})",
        (
            f"Later uploads that come as “{alias.name}” make a host of their own.",
            "The runs that are here stay here.",
        ),
        "Stop following",
        back,
        f"Later uploads as “{alias.name}” make a host of their own.",
    )
    return confirm(request, confirmation, partial(editing.remove_alias, alias.pk), back)
