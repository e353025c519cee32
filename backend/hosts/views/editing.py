from typing import Any

from django import forms
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.generic import DetailView

from accounts.audit import Actor
from core.access import EditorMixin
from core.page_query import search_text
from core.views.confirm import ConfirmView
from hosts import editing
from hosts.views.side_by_side import CHOICES, hosts_beside
from runs.models import Host, HostAlias, Run


class RenameForm(forms.Form):
    name = forms.CharField(label="New name", max_length=editing.LONGEST_NAME)


class RenameHost(ConfirmView):
    permission_required = "runs.change_host"
    model = Host
    form_class = RenameForm
    heading, button = "Rename this host", "Rename"
    sentences = (
        "Uploads under the current name will still belong to this host.",
        "The host's ID stays the same, so old links will still work.",
    )
    success_message = "Renamed from {object.name}."

    def get_initial(self) -> dict[str, Any]:
        return {"name": self.object.name}

    def get_success_url(self) -> str:
        return reverse("host-page", args=[self.object.pk])

    def change(self, by: Actor) -> None:
        editing.rename_host(self.object.pk, self.form.cleaned_data["name"], by)


class MergeChoice(EditorMixin, DetailView):
    permission_required = "runs.change_host"
    queryset = Host.objects.counted()
    template_name = "hosts/merge_choice.html"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        named = search_text(self.request.GET)
        hosts = [other for other in hosts_beside(self.object, named) if not other.published]
        return super().get_context_data(named=named, most=CHOICES, hosts=hosts, **context)


class MergeHosts(ConfirmView):
    permission_required = "runs.change_host"
    model = Host
    heading = "Merge “{other.name}” into “{object.name}”"
    about = "{other.name} ({other.slug}) will become part of {object.name} ({object.slug})"
    sentences = (
        "{moved} run{s} will move. The results will not change.",
        "Future uploads under “{other.name}” will belong to “{object.name}”.",
        "This cannot be undone. The audit log records which runs were moved.",
    )
    button = "Merge"
    success_message = "Merged: {moved} run{s} moved from {other.name}."

    def get_words(self) -> dict[str, Any]:
        other = get_object_or_404(Host, pk=self.kwargs["other_id"])
        moved = Run.objects.filter(host=other).count()
        s = "" if moved == 1 else "s"
        return {**super().get_words(), "other": other, "moved": moved, "s": s}

    def get_success_url(self) -> str:
        return reverse("host-page", args=[self.object.pk])

    def get_cancel_url(self) -> str:
        return reverse("merge-host-choice", args=[self.object.pk])

    def change(self, by: Actor) -> None:
        editing.merge_hosts(self.object.pk, self.kwargs["other_id"], by)


class RemoveAlias(ConfirmView):
    permission_required = "runs.change_host"
    queryset = HostAlias.objects.select_related("host")
    heading, button = "Remove the former name “{object.name}”", "Remove"
    is_destructive = True
    about = "{object.host.name} ({object.host.slug})"
    sentences = (
        "Future uploads under “{object.name}” will create a new host.",
        "Existing runs will stay with this host.",
    )
    success_message = "Former name “{object.name}” removed."

    def get_success_url(self) -> str:
        return reverse("host-page", args=[self.object.host_id])

    def change(self, by: Actor) -> None:
        editing.remove_alias(self.object.pk, by)
