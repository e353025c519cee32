"""Add and delete notes on the page of a host."""

from datetime import UTC, datetime, time

from django.core.exceptions import ValidationError
from django.forms import DateField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views import View

from accounts.audit import Actor, actor_of
from core.access import EditorMixin
from core.views.confirm import ConfirmView
from hosts.editing import add_note, remove_note
from hosts.models import Note
from runs.editing import EditRefused
from runs.models import Host


class AddNote(EditorMixin, View):
    permission_required = "hosts.add_note"

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        host = get_object_or_404(Host, pk=pk)
        back = f"{reverse('host-page', args=[pk])}#notes"
        try:
            add_note(host.pk, request.POST.get("text", ""), _noon(request), actor_of(request))
        except EditRefused as refused:
            context = {"sentence": refused.sentence, "back": back}
            return render(request, "core/change_refused.html", context, status=400)
        return redirect(back)


class DeleteNote(ConfirmView):
    permission_required = "hosts.delete_note"
    queryset = Note.objects.select_related("host")
    heading, button = "Delete this note", "Delete it"
    about = "{object.host.name}, {object.at:%Y-%m-%d}: {object.text}"
    sentences = ("It leaves the histories of the host. This cannot be undone.",)
    success_message = "The note is deleted."

    def get_success_url(self) -> str:
        return f"{reverse('host-page', args=[self.object.host_id])}#notes"

    def change(self, by: Actor) -> None:
        remove_note(self.object.pk, by)


def _noon(request: HttpRequest) -> datetime | None:
    """Return noon (UTC) of the submitted date."""
    try:
        day = DateField(required=False, input_formats=["%Y-%m-%d"]).clean(request.POST.get("date"))
    except ValidationError:
        raise EditRefused("A date is written as 2026-11-21.", "date") from None
    return datetime.combine(day, time(12), UTC) if day else None
