"""Pages of changes: the list, an entry, and its status and note."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views import View
from django.views.generic import DetailView
from rest_framework.exceptions import ValidationError

from accounts.audit import actor_of
from changes.api import MEMBERS_OF_AN_ENTRY, decide, with_members
from changes.filters import ChangeFilter
from changes.models import FleetChange
from cipherspeed.cipher_catalogue import cipher_catalogue
from core.access import EditorMixin, ReaderMixin
from core.views.generic import FilteredListView

DECIDING = {"statuses": FleetChange.Status.choices, "longest_note": FleetChange.LONGEST_NOTE}


class ChangeList(FilteredListView):
    queryset = FleetChange.objects.listed()
    ordering = ("-last_at", "-id")
    filterset_class = ChangeFilter
    chips = {"host": "Host", "tag": "Tag", "tool": "Tool"}
    template_name = "changes/changes.html"
    extra_context = DECIDING

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        context = super().get_context_data(**context)
        families = dict.fromkeys(cipher.family for cipher in cipher_catalogue().ciphers)
        choices = (
            ("kind", "What", FleetChange.Kind.choices),
            ("direction", "Direction", FleetChange.Direction.choices),
            ("family", "Cipher family", [(family, family) for family in families]),
            ("status", "Status", [("open", "Open"), *FleetChange.Status.choices]),
        )
        return context | {
            "changes": with_members(context["object_list"]),
            "choices": [(*choice, self.filters.given.get(choice[0], ())) for choice in choices],
            "list_query": self.request.GET.urlencode(),
        }


class ChangePage(ReaderMixin, DetailView):
    queryset = FleetChange.objects.listed().with_members(MEMBERS_OF_AN_ENTRY)
    context_object_name = "change"
    template_name = "changes/change.html"
    extra_context = {"whole": True, **DECIDING}


class DecideChange(EditorMixin, View):
    """Set the status and note of an entry, and return to the page with the form."""

    permission_required = "changes.change_fleetchange"

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        change = get_object_or_404(FleetChange.objects.listed(), pk=pk)
        try:
            sent = {name: request.POST[name] for name in ("status", "note") if name in request.POST}
            decide(change, sent, actor_of(request))
        except ValidationError as error:
            faults: Any = error.detail
            sentence = " ".join(str(fault) for of_field in faults.values() for fault in of_field)
            return render(request, "core/change_refused.html", {"sentence": sentence}, status=400)
        if request.POST.get("whole"):
            return redirect("change-page", pk)
        back = QueryDict(request.POST.get("list", "")[:4000]).urlencode()
        return redirect(f"{reverse('change-pages')}?{back}#change-{pk}")
