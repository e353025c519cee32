from typing import Any

from django.forms import BaseModelForm
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.generic import DetailView, UpdateView

from accounts.audit import actor_of
from changes.api import MEMBERS_OF_AN_ENTRY, decide, with_members
from changes.filters import ChangeFilter
from changes.models import FleetChange
from cipherspeed.cipher_catalogue import cipher_catalogue
from core.access import ReaderMixin
from core.views.generic import EditorFormMixin, FilteredListView

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


class DecideChange(EditorFormMixin, UpdateView):
    permission_required = "changes.change_fleetchange"
    http_method_names = ("post",)
    queryset = ChangePage.queryset
    fields = ("status", "note")
    context_object_name = ChangePage.context_object_name
    template_name = ChangePage.template_name
    extra_context = ChangePage.extra_context

    def form_valid(self, form: BaseModelForm) -> HttpResponse:
        params, pk = self.request.POST, self.object.pk
        decide(self.object, form.cleaned_data, actor_of(self.request))
        if params.get("whole"):
            return redirect("change-page", pk)
        back = QueryDict(params.get("list", "")[:4000]).urlencode()
        return redirect(f"{reverse('change-pages')}?{back}#change-{pk}")
