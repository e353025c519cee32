"""Reference profiles: the list, making, activating, retiring and comparing them; sensitivity."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework.exceptions import ValidationError

from access.audit import Actor, actor_of
from ingest.tasks import enqueue_profile
from pages.access import reader_required
from pages.compare.cipher_choice import with_ciphers
from pages.compare.compare_page import query_faults
from pages.metrics import GROUP_BY, TOOLS
from pages.page_query import PageAddress, api_params, display
from pages.paging import page_of
from pages.profiles.profile_forms import FORMS, TOOL_CHOICES, ProfileForm
from pages.profiles.profile_views import paired_groups, ranked_ciphers
from profiles import making as profiles
from profiles.details import profile_detail
from profiles.fleet import hosts_with_baselines
from profiles.making import ProfileConflict, ProfileRefused
from profiles.profile_comparison import compare_profiles
from profiles.sensitivity import TooManyVotes, query_sensitivity
from questions.requested_ciphers import asked_comparison
from store.models import ReferenceProfile
from store.reference_profiles import UnknownProfile, find_profile, offered_profiles, select_profiles

MANAGE = "runs.add_referenceprofile"

SUGGESTED_HOSTS = 200
"""Hosts that the browser suggests as a reference; any other can be typed."""


@reader_required
@require_http_methods(["GET", "HEAD", "POST"])
def profiles_page(request: HttpRequest) -> HttpResponseBase:
    """The profiles; a POST makes one."""
    if request.method != "POST":
        return _page(request, {"run": FORMS["run"](initial=_asked_run(request))})
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    if not request.user.has_perm(MANAGE):
        return render(request, "403.html", status=403)
    return _make(request)


def _asked_run(request: HttpRequest) -> dict[str, Any]:
    """The run that a run's page leads here with; the other initial values are the form's own."""
    tools = [key for key, _ in TOOL_CHOICES]
    return {"run_id": request.GET.get("run", "")[:36], "tools": tools}


def _make(request: HttpRequest) -> HttpResponse:
    origin = request.POST.get("from", "")
    form = FORMS.get(origin, FORMS["fleet"])(request.POST)
    if form.is_valid():
        try:
            profile = profiles.make_profile(form.request(), actor_of(request))
        except ProfileRefused as refusal:
            form.add_error(refusal.attr, refusal.sentence)
        else:
            enqueue_profile(profile.pk)
            return redirect("profiles")
    return _page(request, {form.origin: form}, status=400)


def _page(
    request: HttpRequest,
    forms: dict[str, ProfileForm],
    status: int = 200,
    refusal: str = "",
) -> HttpResponse:
    page = page_of(select_profiles(), request.GET)
    manages = request.user.has_perm(MANAGE)
    shown = [profile_detail(profile) for profile in page.rows]
    context = {
        "profiles": shown,
        "computing": sum(profile.completed_at is None for profile in shown),
        "page": page,
        "live_address": reverse("profiles") + PageAddress(request.GET).changed(),
        "manages": manages,
        "forms": [forms.get(origin) or FORMS[origin]() for origin in FORMS] if manages else [],
        "tool_choices": TOOL_CHOICES,
        "hosts": hosts_with_baselines(SUGGESTED_HOSTS) if manages else [],
        "offered": offered_profiles(),
        "refusal": refusal,
        "failed": next((origin for origin, form in forms.items() if form.is_bound), ""),
    }
    return render(request, "pages/profiles.html", context, status=status)


def _change(
    request: HttpRequest, profile_id: int, change: Callable[[int, Actor], ReferenceProfile]
) -> HttpResponse:
    get_object_or_404(ReferenceProfile, pk=profile_id)
    try:
        change(profile_id, actor_of(request))
    except ProfileConflict as refusal:
        return _page(request, {}, status=409, refusal=refusal.sentence)
    return redirect("profiles")


@login_required
@permission_required(MANAGE, raise_exception=True)
@require_POST
def activate_profile(request: HttpRequest, profile_id: int) -> HttpResponse:
    """Make a profile the active one."""
    return _change(request, profile_id, profiles.activate)


@login_required
@permission_required(MANAGE, raise_exception=True)
@require_POST
def retire_profile(request: HttpRequest, profile_id: int) -> HttpResponse:
    """Offer a profile no more."""
    return _change(request, profile_id, profiles.retire)


@require_safe
@reader_required
def compare_profiles_page(request: HttpRequest) -> HttpResponse:
    """Two profiles: their levels, and the same runs' normalised medians under both."""
    try:
        query = with_ciphers(asked_comparison(api_params(request.GET)))
        first, second = (_named(request.GET.get(name, "")) for name in ("profile", "with"))
        compared = compare_profiles(query, first, second)
    except ValidationError as error:
        return _refused(request, query_faults(error))
    except UnknownProfile as error:
        return _refused(request, [("profile", error.sentence)])
    context = {
        "query": query,
        "tools": TOOLS,
        "groupings": GROUP_BY,
        "names": (first.name, second.name),
        "offered": offered_profiles(first.name, second.name),
        "compared": compared,
        "groups": paired_groups(compared, display(request.GET)),
        "total": len(compared.under_first.groups),
        "all_address": PageAddress(request.GET).changed(top="all"),
    }
    return render(request, "pages/profile_comparison.html", context)


def _named(name: str) -> ReferenceProfile:
    profile = find_profile(name)
    if profile is None:
        raise UnknownProfile(name)
    return profile


def _refused(request: HttpRequest, faults: list[tuple[str, str]]) -> HttpResponse:
    return render(request, "pages/profile_refused.html", {"faults": faults}, status=400)


@require_safe
@reader_required
def sensitivity_page(request: HttpRequest) -> HttpResponse:
    """The normalised ranking of a comparison, made again without each baseline family."""
    try:
        query = with_ciphers(asked_comparison(api_params(request.GET)))
        found = query_sensitivity(query)
    except ValidationError as error:
        return _refused(request, query_faults(error))
    except UnknownProfile as error:
        return _refused(request, [("profile", error.sentence)])
    except TooManyVotes as error:
        return _refused(request, [("cipher", str(error))])
    shown = display(request.GET)
    asked = api_params(request.GET)
    asked.pop("metric", None)
    address = asked.urlencode()
    asked["metric"] = "normalised"
    context = {
        "found": found,
        "query": found.query,
        "ciphers": ranked_ciphers(found, shown.top),
        "by": next((by.label for by in GROUP_BY if by.key == query.group_by), query.group_by),
        "compare_query": asked.urlencode(),
        "more_address": "" if shown.top is None else PageAddress(request.GET).changed(top="all"),
        "api_address": f"{reverse('api:sensitivity')}?{address}",
    }
    return render(request, "pages/sensitivity.html", context)
