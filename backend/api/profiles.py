"""HTTP of reference profiles: list, make, activate, retire, compare."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.audit import Actor, actor_of
from api.http.api_view import ApiView, ListView, sent
from api.http.errors import Conflict
from api.http.permissions import MayManageProfiles
from api.profile_serializers import (
    ProfileComparisonSerializer,
    ProfileRequestSerializer,
    ReferenceProfileSerializer,
)
from ingest.tasks import enqueue_profile
from profiles import making as profiles
from profiles.making import ProfileConflict, ProfileRefused, ProfileRequest
from profiles.profile_comparison import compare_profiles
from questions.comparison_parameters import PLAIN_PARAMETERS, asked_comparison
from store.models import ReferenceProfile
from store.reference_profiles import UnknownProfile, find_profile, select_profiles

QUERY_PARAMETERS = [
    parameter for parameter in PLAIN_PARAMETERS if parameter.name not in ("metric", "profile")
]


def found(name_or_id: str) -> ReferenceProfile:
    """The profile that an address names."""
    profile = find_profile(name_or_id)
    if profile is None:
        raise NotFound(UnknownProfile(name_or_id).sentence)
    return profile


def answer(profile: ReferenceProfile, code: int = status.HTTP_200_OK) -> Response:
    """One profile as it is now."""
    return Response(ReferenceProfileSerializer(profile).data, status=code)


class ReferenceProfileList(ListView):
    """Reference profiles of the normalisation."""

    permissions = {"POST": MayManageProfiles}

    @extend_schema(
        operation_id="reference_profiles", responses=ReferenceProfileSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """Every profile; the active one is the default of `profile`."""
        return self.page(request, select_profiles(), ReferenceProfileSerializer)

    @extend_schema(
        operation_id="reference_profiles_make",
        request=ProfileRequestSerializer,
        responses={202: OpenApiResponse(ReferenceProfileSerializer, "Made; it is being computed.")},
    )
    def post(self, request: Request) -> Response:
        """Make a profile and freeze it; the speed indices of all runs follow in the background."""
        asked = sent(ProfileRequestSerializer, request)
        if asked["from"] == "run" and not asked.get("run_id"):
            raise ValidationError({"run_id": "A profile from a run needs its run_id."})
        try:
            profile = profiles.make_profile(_request(asked), actor_of(request))
        except ProfileRefused as refusal:
            said = refusal.sentence
            raise ValidationError({refusal.attr: said} if refusal.attr else said) from None
        enqueue_profile(profile.pk)
        return answer(profile, status.HTTP_202_ACCEPTED)


def _request(fields: dict[str, Any]) -> ProfileRequest:
    return ProfileRequest(
        name=fields["name"],
        origin=fields["from"],
        run_id=fields.get("run_id"),
        reference=fields.get("reference", ""),
        tools=tuple(dict.fromkeys(fields.get("tools", profiles.TOOLS))),
    )


class ReferenceProfileView(ApiView):
    """One reference profile."""

    @extend_schema(operation_id="reference_profiles_read", responses=ReferenceProfileSerializer)
    def get(self, request: Request, profile: str) -> Response:
        """The profile of this name or id, with how far its computation is."""
        return answer(found(profile))


def _changed(
    request: Request, profile: str, change: Callable[[int, Actor], ReferenceProfile]
) -> Response:
    try:
        return answer(change(found(profile).pk, actor_of(request)))
    except ProfileConflict as refusal:
        raise Conflict(refusal.sentence) from None


CONFLICT = {409: OpenApiResponse(OpenApiTypes.OBJECT, "Its state forbids it.")}


class ActivateProfile(ApiView):
    """Activation."""

    permission_classes = (MayManageProfiles,)

    @extend_schema(
        operation_id="reference_profiles_activate",
        request=None,
        responses={200: ReferenceProfileSerializer, **CONFLICT},
    )
    def post(self, request: Request, profile: str) -> Response:
        """Make it the active one; 409 while it is computed or when it is retired."""
        return _changed(request, profile, profiles.activate)


class RetireProfile(ApiView):
    """Retirement."""

    permission_classes = (MayManageProfiles,)

    @extend_schema(
        operation_id="reference_profiles_retire",
        request=None,
        responses={200: ReferenceProfileSerializer, **CONFLICT},
    )
    def post(self, request: Request, profile: str) -> Response:
        """Offer it no more; its figures stay for addresses that name it. 409 for the active one."""
        return _changed(request, profile, profiles.retire)


class CompareProfiles(ApiView):
    """Two profiles."""

    @extend_schema(
        operation_id="reference_profiles_compare",
        parameters=[
            OpenApiParameter("with", OpenApiTypes.STR, required=True, description="Name or id."),
            *QUERY_PARAMETERS,
        ],
        responses=ProfileComparisonSerializer,
    )
    def get(self, request: Request, profile: str) -> Response:
        """Their levels, and the same runs' normalised medians under both, group by group."""
        query = asked_comparison(request.query_params)
        other = request.query_params.get("with", "")
        second = find_profile(other)
        if second is None:
            raise ValidationError({"with": UnknownProfile(other).sentence})
        try:
            compared = compare_profiles(query, found(profile), second)
        except UnknownProfile as error:
            raise Conflict(error.sentence) from None
        return Response(ProfileComparisonSerializer(compared).data)
