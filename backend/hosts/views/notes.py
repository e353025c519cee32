"""Add and delete notes on the page of a host."""

from collections.abc import Callable
from datetime import UTC, datetime, time
from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_date

from accounts.audit import actor_of
from core.access import FORM, permission_page
from core.views.confirm import Confirmation, confirm
from hosts.editing import add_note, remove_note
from hosts.models import Note
from runs.editing import EditRefused
from runs.models import Host


@permission_page("hosts.add_note", "POST")
def add_host_note(request: HttpRequest, host_id: int) -> HttpResponse:
    host = get_object_or_404(Host, pk=host_id)

    def make() -> None:
        add_note(host.pk, request.POST.get("text", ""), _noon(request), actor_of(request))

    return _changed(request, make, host.pk)


@permission_page("hosts.delete_note", *FORM)
def delete_note(request: HttpRequest, note_id: int) -> HttpResponse:
    note = get_object_or_404(Note.objects.select_related("host"), pk=note_id)
    back = reverse("host-page", args=[note.host_id]) + "#notes"
    confirmation = Confirmation(
        "Delete this note",
        f"{note.host.name}, {note.at:%Y-%m-%d}: {note.text}",
        ("It leaves the histories of the host. This cannot be undone.",),
        "Delete it",
        back,
        "The note is deleted.",
    )
    return confirm(request, confirmation, partial(remove_note, note_id), back)


def _noon(request: HttpRequest) -> datetime | None:
    """Return noon (UTC) of the submitted date."""
    given = request.POST.get("date", "")
    try:
        day = parse_date(given)
    except ValueError:
        day = None
    if given and day is None:
        raise EditRefused("A date is written as 2026-11-21.", "date")
    return datetime.combine(day, time(12), UTC) if day else None


def _changed(request: HttpRequest, change: Callable[[], None], host_id: int) -> HttpResponse:
    back = reverse("host-page", args=[host_id]) + "#notes"
    try:
        change()
    except EditRefused as refused:
        context = {"sentence": refused.sentence, "back": back}
        return render(request, "core/change_refused.html", context, status=400)
    return redirect(back)
