from typing import Any

from django.urls import reverse, reverse_lazy
from django.utils.html import format_html

from accounts.audit import Actor
from core.access import EditorMixin
from core.views.confirm import ConfirmView
from core.views.generic import CursorListView
from runs import editing
from runs.models import Run


class _RunChange(ConfirmView):
    permission_required = "runs.change_run"
    model = Run
    slug_field = slug_url_kwarg = "run_id"
    about = "{object.host_name}, {date}"
    success_url = reverse_lazy("hidden-runs")

    def get_words(self) -> dict[str, Any]:
        started = self.object.started_at
        date = f"{started:%Y-%m-%d %H:%M} UTC" if started else "undated"
        return {**super().get_words(), "date": date}

    def get_cancel_url(self) -> str:
        return reverse("run-page", args=[self.object.run_id])


class HideRun(_RunChange):
    heading, button = "Hide this run", "Hide"
    sentences = (
        "The run will disappear from all lists, charts, comparisons and exports.",
        "No data will be lost. You can unhide the run in the list of hidden runs.",
    )
    success_message = "Run hidden: {object.host_name}, {date}."

    def change(self, by: Actor) -> None:
        editing.set_hidden(self.object.pk, True, by)

    def get_success_message(self) -> str:
        undo = reverse("show-run", args=[self.object.run_id])
        return format_html('{} <a href="{}">Undo</a>', super().get_success_message(), undo)


class ShowRun(_RunChange):
    heading, button = "Unhide this run", "Unhide"
    sentences = ("The run will appear in all lists and statistics again.",)
    success_message = "Run unhidden: {object.host_name}, {date}."

    def change(self, by: Actor) -> None:
        editing.set_hidden(self.object.pk, False, by)

    def get_success_url(self) -> str:
        return super().get_cancel_url()

    def get_cancel_url(self) -> str:
        return reverse("hidden-runs")


class RemoveRun(_RunChange):
    permission_required = "runs.delete_run"
    heading, button = "Delete this run permanently", "Delete permanently"
    is_destructive = True
    sentences = (
        "The run, its results and its original document will be deleted. This cannot be undone.",
        "To remove it only from lists and charts, hide it instead.",
        "The audit log records who deleted the run, its host and its date, but no results.",
    )
    success_message = "Run deleted: {object.host_name}, {date}."
    success_url = reverse_lazy("run-pages")

    def change(self, by: Actor) -> None:
        editing.remove_run(self.object.pk, by)

    def get_cancel_url(self) -> str:
        return reverse("hidden-runs") if self.object.hidden else super().get_cancel_url()


class HiddenRunList(EditorMixin, CursorListView):
    permission_required = "runs.change_run"
    queryset = Run.objects.filter(hidden=True).select_related("host")
    context_object_name = "runs"
    template_name = "runs/hidden_runs.html"
