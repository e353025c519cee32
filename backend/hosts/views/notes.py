from datetime import UTC, datetime, time

from django import forms
from django.urls import reverse

from accounts.audit import Actor
from core.views.confirm import ConfirmView
from hosts.editing import add_note, remove_note
from hosts.models import Note
from runs.models import Host


class NoteForm(forms.ModelForm):
    date = forms.DateField(
        label="Date (default: today)", required=False, widget=forms.DateInput({"type": "date"})
    )

    class Meta:
        model = Note
        fields = ("text",)
        labels = {"text": "Note"}
        widgets = {"text": forms.TextInput({"placeholder": "e.g. BIOS update"})}


class AddNote(ConfirmView):
    permission_required = "hosts.add_note"
    model = Host
    form_class = NoteForm
    heading, button = "Add a note", "Add note"
    sentences = ()
    success_message = "Note added."

    def get_success_url(self) -> str:
        return f"{reverse('host-page', args=[self.object.pk])}#notes"

    def change(self, by: Actor) -> None:
        text, date = self.form.cleaned_data["text"], self.form.cleaned_data["date"]
        noon = datetime.combine(date, time(12), UTC) if date else None
        add_note(self.object.pk, text, noon, by)


class DeleteNote(ConfirmView):
    permission_required = "hosts.delete_note"
    queryset = Note.objects.select_related("host")
    heading, button = "Delete this note", "Delete"
    is_destructive = True
    about = "{object.host.name}, {object.at:%Y-%m-%d}: {object.text}"
    sentences = (
        "The note will be deleted from all of this host's histories. This cannot be undone.",
    )
    success_message = "Note deleted."

    def get_success_url(self) -> str:
        return f"{reverse('host-page', args=[self.object.host_id])}#notes"

    def change(self, by: Actor) -> None:
        remove_note(self.object.pk, by)
