"""The method, its reference profiles (list, make, compare)."""

from collections.abc import Callable, Iterator
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.exceptions import ValidationError

from access.audit import Actor, actor_of
from analysis.comparison import Group
from analysis.groups import GroupSummary
from exports.palette import cipher_order
from ingest.tasks import enqueue_profile
from pages.access import reader_page, reader_required
from pages.compare.filters import with_ciphers
from pages.metrics import GROUP_BY, METRICS, TOOLS
from pages.page_query import PageAddress, api_params, display, query_faults
from pages.paging import page_of
from profiles import making
from profiles.fleet import hosts_with_baselines
from profiles.making import ProfileConflict, ProfileRefused, ProfileRequest
from profiles.profile_comparison import ProfileComparison, compare_profiles
from questions.comparison_parameters import asked_comparison
from store.models import ReferenceProfile
from store.outage import Unanswerable
from store.reference_profiles import (
    UnknownProfile,
    active_profile,
    find_profile,
    offered_profiles,
    select_profiles,
)

MANAGE = "runs.add_referenceprofile"

SUGGESTED_HOSTS = 200
"""Hosts that the browser suggests as a reference; any other can be typed."""

TOOL_CHOICES = [(tool.key, tool.label) for tool in TOOLS]


@reader_page
def method_page(request: HttpRequest) -> HttpResponse:
    """Methodology, with the levels of the active reference profile."""
    profile = active_profile()
    context = {
        "metrics": METRICS,
        "profile": profile,
        "levels": [
            (tool, family, level)
            for tool, levels in sorted((profile.levels if profile else {}).items(), reverse=True)
            for family, level in levels.items()
        ],
    }
    return render(request, "pages/method.html", context)


class ProfileForm(forms.Form):
    """What both ways of making a profile ask for."""

    origin = ""

    name = forms.CharField(max_length=100)
    tools = forms.MultipleChoiceField(
        choices=TOOL_CHOICES,
        initial=[key for key, _ in TOOL_CHOICES],
        error_messages={"required": "Choose at least one tool."},
    )

    def request(self) -> ProfileRequest:
        """The valid form as the request that it is."""
        fields: dict[str, Any] = self.cleaned_data
        return ProfileRequest(
            name=fields["name"],
            origin=self.origin,
            run_id=fields.get("run_id"),
            reference=fields.get("reference", ""),
            tools=tuple(fields["tools"]),
        )


class FromRunForm(ProfileForm):
    """Levels of one run."""

    origin = "run"

    run_id = forms.UUIDField(
        error_messages={"invalid": "This is no run id: it stands in the address of the run's page."}
    )


class FromFleetForm(ProfileForm):
    """A fit over every machine."""

    origin = "fleet"

    reference = forms.CharField(max_length=220, required=False)


FORMS: dict[str, type[ProfileForm]] = {"run": FromRunForm, "fleet": FromFleetForm}


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
            profile = making.make_profile(form.request(), actor_of(request))
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
    context = {
        "profiles": page.rows,
        "computing": sum(profile.completed_at is None for profile in page.rows),
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
    return _change(request, profile_id, making.activate)


@login_required
@permission_required(MANAGE, raise_exception=True)
@require_POST
def retire_profile(request: HttpRequest, profile_id: int) -> HttpResponse:
    """Offer a profile no more."""
    return _change(request, profile_id, making.retire)


@reader_page
def compare_profiles_page(request: HttpRequest) -> HttpResponse:
    """Two profiles: their levels, and the same runs' normalised medians under both."""
    try:
        query = with_ciphers(asked_comparison(api_params(request.GET)))
        first, second = (_named(request.GET.get(name, "")) for name in ("profile", "with"))
        compared = compare_profiles(query, first, second)
    except (ValidationError, Unanswerable) as error:
        return _refused(request, query_faults(error))
    context = {
        "query": query,
        "tools": TOOLS,
        "groupings": GROUP_BY,
        "names": (first.name, second.name),
        "offered": offered_profiles(first.name, second.name),
        "compared": compared,
        "groups": _paired(compared, display(request.GET).top),
        "total": len(compared.under_first.groups),
        "all_address": PageAddress(request.GET).changed(top="all"),
    }
    return render(request, "pages/profile_comparison.html", context)


Paired = tuple[str, GroupSummary, GroupSummary, float]
"""A cipher, its normalised summaries under two profiles, and the ratio of their medians."""


def _paired(compared: ProfileComparison, top: int | None) -> list[tuple[Group, list[Paired]]]:
    """At most `top` groups with their ciphers under both profiles."""

    def rows(one: Group, other: Group) -> Iterator[Paired]:
        for cipher in sorted(one.values, key=cipher_order):
            first, second = one.values[cipher], other.values[cipher]
            yield cipher, first, second, second.median / first.median

    pairs = zip(compared.under_first.groups, compared.under_second.groups, strict=True)
    return [(one, list(rows(one, other))) for one, other in list(pairs)[:top]]


def _named(name: str) -> ReferenceProfile:
    profile = find_profile(name)
    if profile is None:
        raise UnknownProfile(name)
    return profile


def _refused(request: HttpRequest, faults: list[tuple[str, str]]) -> HttpResponse:
    return render(request, "pages/profile_refused.html", {"faults": faults}, status=400)
