"""Pages of changes: the list, an entry, its status and note."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from rest_framework.exceptions import ValidationError

from accounts.audit import actor_of
from changes.api import MEMBERS_OF_AN_ENTRY, decide, with_members
from changes.filters import ChangeFilter
from changes.models import FleetChange
from cipherspeed.cipher_catalogue import cipher_catalogue
from core.access import permission_page, reader_page
from core.page_query import PageAddress, first_page
from core.paging import CURSOR, page_of

DECIDING = {"statuses": FleetChange.Status.choices, "longest_note": FleetChange.LONGEST_NOTE}


@reader_page
def change_list(request: HttpRequest) -> HttpResponse:
    params = request.GET
    filters = ChangeFilter(params, FleetChange.objects.listed())
    page = page_of(filters.qs, params, "-last_at", "-id")
    address = PageAddress(first_page(params, CURSOR))
    families = dict.fromkeys(cipher.family for cipher in cipher_catalogue().ciphers)
    choices = (
        ("kind", "What", FleetChange.Kind.choices),
        ("direction", "Direction", FleetChange.Direction.choices),
        ("family", "Cipher family", [(family, family) for family in families]),
        ("status", "Status", [("open", "Open"), *FleetChange.Status.choices]),
    )
    context = {
        "filters": filters,
        "page": page,
        "changes": with_members(page.rows),
        "narrowed": bool(filters.given),
        "choices": [(*choice, filters.given.get(choice[0], ())) for choice in choices],
        "dates": {name: params.get(name, "")[:10] for name in ("since", "until")},
        "chips": [
            (name, value, address.without(name, value))
            for name in ("host", "tag", "tool")
            for value in filters.given.get(name, ())
        ],
        "list_query": params.urlencode(),
        **DECIDING,
    }
    status = 400 if filters.errors else 200
    return render(request, "changes/changes.html", context, status=status)


@reader_page
def change_page(request: HttpRequest, change_id: int) -> HttpResponse:
    changes = FleetChange.objects.listed().with_members(MEMBERS_OF_AN_ENTRY)
    context = {"change": get_object_or_404(changes, pk=change_id), "whole": True, **DECIDING}
    return render(request, "changes/change.html", context)


@permission_page("changes.change_fleetchange", "POST")
def decide_change(request: HttpRequest, change_id: int) -> HttpResponse:
    """Set status and note of an entry, and return to the page of the form."""
    change = get_object_or_404(FleetChange.objects.listed(), pk=change_id)
    try:
        sent = {name: request.POST[name] for name in ("status", "note") if name in request.POST}
        decide(change, sent, actor_of(request))
    except ValidationError as error:
        faults: Any = error.detail
        sentence = " ".join(str(fault) for of_field in faults.values() for fault in of_field)
        return render(request, "core/change_refused.html", {"sentence": sentence}, status=400)
    if request.POST.get("whole"):
        return redirect("change-page", change_id)
    back = QueryDict(request.POST.get("list", "")[:4000]).urlencode()
    return redirect(f"{reverse('change-pages')}?{back}#change-{change_id}")
