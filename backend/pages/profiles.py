"""The method, its reference profiles (list, make, compare), and the sensitivity to them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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
from analysis.group_view import MOST_GROUPS
from analysis.groups import GroupSummary
from analysis.sensitivity import MOST_NAMED, Ranking, Sensitivity
from exports.palette import cipher_order
from ingest.tasks import enqueue_profile
from pages.access import reader_page, reader_required
from pages.compare.filters import with_ciphers
from pages.formatting import three_digits
from pages.metrics import GROUP_BY, METRICS, TOOLS
from pages.page_query import PageAddress, api_params, display, query_faults
from pages.paging import page_of
from profiles import making
from profiles.fleet import hosts_with_baselines
from profiles.making import ProfileConflict, ProfileRefused, ProfileRequest
from profiles.profile_comparison import ProfileComparison, compare_profiles
from profiles.sensitivity import QuerySensitivity, query_sensitivity
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


@reader_page
def sensitivity_page(request: HttpRequest) -> HttpResponse:
    """The normalised ranking of a comparison, made again without each baseline family."""
    try:
        query = with_ciphers(asked_comparison(api_params(request.GET)))
        found = query_sensitivity(query)
    except (ValidationError, Unanswerable) as error:
        return _refused(request, query_faults(error))
    shown = display(request.GET)
    asked = api_params(request.GET)
    asked.pop("metric", None)
    address = asked.urlencode()
    asked["metric"] = "normalised"
    context = {
        "found": found,
        "query": found.query,
        "ciphers": _ranked_ciphers(found, shown.top),
        "by": next((by.label for by in GROUP_BY if by.key == query.group_by), query.group_by),
        "compare_query": asked.urlencode(),
        "more_address": "" if shown.top is None else PageAddress(request.GET).changed(top="all"),
        "api_address": f"{reverse('api:sensitivity')}?{address}",
    }
    return render(request, "pages/sensitivity.html", context)


@dataclass(frozen=True)
class Place:
    """A group's place in one ranking; `median` is None where it is not ranked."""

    place: int
    median: float | None
    moved: bool
    tie: bool


@dataclass(frozen=True)
class RankedCipher:
    """One cipher's ranking: what it says in words, and its first groups.

    A group has its label, its n and its places under the whole yardstick and without each family;
    `hidden` counts the groups that are not shown.
    """

    cipher: str
    verdict: str
    ties: str
    sentences: tuple[str, ...]
    families: tuple[str, ...]
    shifts: tuple[str, ...]
    groups: tuple[tuple[str, int, list[Place]], ...]
    hidden: int
    excluded: int


def _ranked_ciphers(found: QuerySensitivity, top: int | None) -> list[RankedCipher]:
    """Every cipher of the sensitivity, in the palette's order; the API has all of its groups."""
    most = min(top or MOST_GROUPS, MOST_GROUPS)
    return [
        _ranked_cipher(cipher, found.ciphers[cipher], found, most)
        for cipher in sorted(found.ciphers, key=cipher_order)
    ]


def _verdict(one: Sensitivity) -> str:
    groups = len(one.full.order)
    if not one.left_out:
        return "The profile knows no baseline that these hosts measured: nothing is ranked."
    if groups < 2:
        return "There are fewer than two groups to rank."
    if len(one.left_out) == 1:
        return f"Only {one.left_out[0].ranking.without} is known: nothing can be left out."
    if one.robust:
        return f"The ranking of the {groups} groups is the same whichever family is left out."
    return "The ranking depends on one baseline: do not rely on the pairs that change places."


def _place(ranking: Ranking, swapped: frozenset[str], key: str) -> Place:
    if key not in ranking.places:
        return Place(0, None, False, False)
    median = ranking.values[key].median
    return Place(ranking.places[key], median, key in swapped, key in ranking.tied)


def _ties(ranking: Ranking, labels: Mapping[str, str]) -> str:
    """ "a, b and c are a tie: ..."; empty where no groups tie."""
    if not ranking.ties:
        return ""
    first, *more = ranking.ties
    named = [labels[key] for key in first[:MOST_NAMED]]
    if len(first) > len(named):
        named.append(f"{len(first) - len(named)} more")
    words = f"{', '.join(named[:-1])} and {named[-1]} are a tie: noise does not tell them apart."
    return f"{words} Other ties: {len(more)}." if more else words


def _ranked_cipher(
    cipher: str, one: Sensitivity, found: QuerySensitivity, top: int
) -> RankedCipher:
    # A ranking without the only family there is has nothing to say.
    left_out = one.left_out if len(one.left_out) > 1 else ()
    rankings = (one.full, *(each.ranking for each in left_out))
    moved = [frozenset[str](), *(each.swaps.groups for each in left_out)]
    shown = one.full.order[:top]
    groups = tuple(
        (
            found.labels[key],
            one.full.values[key].n,
            [_place(*pair, key) for pair in zip(rankings, moved, strict=True)],
        )
        for key in shown
    )
    return RankedCipher(
        cipher=cipher,
        verdict=_verdict(one),
        ties=_ties(one.full, found.labels),
        sentences=tuple(each.sentence(found.labels) for each in left_out if each.swapped),
        families=tuple(each.ranking.without or "" for each in left_out),
        shifts=tuple(three_digits(each.largest_shift) for each in left_out),
        groups=groups,
        hidden=len(one.full.order) - len(shown),
        excluded=len(one.full.excluded),
    )
