"""Notes on hosts, runs and groups of comparisons: shown, made and removed by editors."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_date
from django.utils.http import urlencode

from access.audit import actor_of
from ingest.edits.editing import EditRefused
from ingest.edits.notes import LONGEST_TEXT, About, add_note, remove_note
from pages.access import editors
from questions.list_parameters import group_of
from results.hosts.notes import NoteQuery, notes_of_host, select_notes
from results.selection import ComparisonQuery
from store.models import Host, Note, Run

NOTES = "#notes"

MOST_SHOWN = 50
"""Notes on the groups of a comparison, the latest."""


def host_notes(host_id: int) -> dict[str, Any]:
    """What the part "notes" of a host's page shows; each note with the name of its group."""
    notes = notes_of_host(host_id)
    return {
        "notes": [(note, note.group) for note in reversed(notes)],
        "note_form": reverse("add-host-note", args=[host_id]),
        "asks_date": True,
        "longest_note": LONGEST_TEXT,
    }


def run_notes(run_id: UUID) -> dict[str, Any]:
    """The same of a run's page."""
    return {
        "notes": [(note, "") for note in Note.objects.filter(run__run_id=run_id)],
        "note_form": reverse("add-run-note", args=[run_id]),
        "longest_note": LONGEST_TEXT,
    }


def group_notes(group_by: str, groups: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The same of the compare page: on groups of a grouping, key and label of those shown."""
    labels = dict(groups)
    notes = select_notes(NoteQuery(group_by=group_by)).filter(group__in=list(labels))
    return {
        "notes": [(note, labels[note.group]) for note in notes[:MOST_SHOWN]],
        "note_form": reverse("add-group-note"),
        "note_groups": groups,
        "asks_date": True,
        "longest_note": LONGEST_TEXT,
    }


@editors("runs.add_note", "POST")
def add_group_note(request: HttpRequest) -> HttpResponse:
    """A note on a group of a comparison, which its hosts' histories have too."""
    view = QueryDict(request.POST.get("view", "")[:4000])
    grouped_by = view.get("group_by") or ComparisonQuery.group_by
    back = f"{reverse('compare')}?{view.urlencode()}{NOTES}"

    def make() -> None:
        try:
            group_by, group = group_of(grouped_by, request.POST.get("group", ""))
        except ValueError as error:
            raise EditRefused(str(error), "group") from None
        about = About(group_by=group_by, group=group)
        add_note(about, _text(request), _noon(request), actor_of(request))

    return _changed(request, make, back)


@editors("runs.add_note", "POST")
def add_host_note(request: HttpRequest, host_id: int) -> HttpResponse:
    """A note on a host at a date, by default today's."""
    host = get_object_or_404(Host, pk=host_id)
    back = reverse("host-page", args=[host_id]) + NOTES

    def make() -> None:
        add_note(About(host=host.pk), _text(request), _noon(request), actor_of(request))

    return _changed(request, make, back)


@editors("runs.add_note", "POST")
def add_run_note(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """A note on a run, at its start."""
    run = get_object_or_404(Run, run_id=run_id)
    back = reverse("run-page", args=[run_id]) + NOTES

    def make() -> None:
        add_note(About(run=run.pk), _text(request), None, actor_of(request))

    return _changed(request, make, back)


@editors("runs.delete_note", "POST")
def delete_note(request: HttpRequest, note_id: int) -> HttpResponse:
    """Remove a note; back to the page of what it was about."""
    note = Note.objects.select_related("run").filter(pk=note_id).first()
    if note is None:
        raise Http404("There is no such note.")
    if note.run:
        back = reverse("run-page", args=[note.run.run_id])
    elif note.host_id:
        back = reverse("host-page", args=[note.host_id])
    else:
        back = f"{reverse('compare')}?{urlencode({'group_by': note.group_by})}"
    return _changed(request, lambda: remove_note(note_id, actor_of(request)), back + NOTES)


def _text(request: HttpRequest) -> str:
    return request.POST.get("text", "")


def _noon(request: HttpRequest) -> datetime | None:
    """Noon of the day, UTC: between the runs of the day before and of the day after."""
    given = request.POST.get("date", "")
    try:
        day = parse_date(given)
    except ValueError:
        day = None
    if given and day is None:
        raise EditRefused("A date is written as 2026-11-21.", "date")
    return datetime.combine(day, time(12), UTC) if day else None


def _changed(request: HttpRequest, change: Callable[[], None], back: str) -> HttpResponse:
    try:
        change()
    except EditRefused as refused:
        context = {"sentence": refused.sentence, "back": back}
        return render(request, "pages/change_refused.html", context, status=400)
    return redirect(back)
