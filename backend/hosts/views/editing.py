"""Edit hosts, with a confirmation page before each change."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from core.access import FORM, permission_page
from core.page_query import search_text
from core.views.confirm import Confirmation, confirm
from hosts import editing
from hosts.views.side_by_side import CHOICES, hosts_beside
from runs.models import Host, HostAlias, Run


@permission_page("runs.change_host", *FORM)
def rename_host(request: HttpRequest, host_id: int) -> HttpResponse:
    host = get_object_or_404(Host, pk=host_id)
    back = reverse("host-page", args=[host_id])
    confirmation = Confirmation(
        "Rename this host",
        host.name,
        (
            "Uploads under its current name still reach it.",
            "Its key stays the same, so old links keep working.",
        ),
        "Rename it",
        back,
        f"Renamed; it was {host.name}.",
        name=host.name,
    )
    name = request.POST.get("name", "")
    return confirm(request, confirmation, partial(editing.rename_host, host.pk, name), back)


@require_safe
@permission_page("runs.change_host")
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


@permission_page("runs.change_host", *FORM)
def merge_hosts(request: HttpRequest, host_id: int, other_id: int) -> HttpResponse:
    host, other = get_object_or_404(Host, pk=host_id), get_object_or_404(Host, pk=other_id)
    moved = Run.objects.filter(host=other).count()
    confirmation = Confirmation(
        f"Merge “{other.name}” into “{host.name}”",
        f"{other.name} ({other.slug}) becomes part of {host.name} ({host.slug})",
        (
            f"All its runs move ({moved}); none of their figures change.",
            "Later uploads under the merged name belong to this host.",
            "The runs cannot be moved back; the audit log keeps which were moved.",
        ),
        "Merge them",
        reverse("merge-host-choice", args=[host_id]),
        f"Merged: the {moved} run{'' if moved == 1 else 's'} of {other.name} are here now.",
    )
    done = reverse("host-page", args=[host_id])
    return confirm(request, confirmation, partial(editing.merge_hosts, host.pk, other.pk), done)


@permission_page("runs.change_host", *FORM)
def remove_alias(request: HttpRequest, alias_id: int) -> HttpResponse:
    alias = get_object_or_404(HostAlias.objects.select_related("host"), pk=alias_id)
    back = reverse("host-page", args=[alias.host_id])
    confirmation = Confirmation(
        f"Stop following “{alias.name}”",
        f"{alias.host.name} ({alias.host.slug})",
        (
            f"Later uploads as “{alias.name}” create a new host.",
            "The runs that are here stay here.",
        ),
        "Stop following",
        back,
        f"Later uploads as “{alias.name}” create a new host.",
    )
    return confirm(request, confirmation, partial(editing.remove_alias, alias.pk), back)
