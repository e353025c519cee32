from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from cipherspeed.reference_profile import PROFILE
from core.api_view import ApiView


class ReferenceProfileSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    levels = serializers.DictField(
        child=serializers.DictField(child=serializers.FloatField()),
        help_text="Levels in bytes per second, by tool and family.",
    )
    made_from = serializers.DictField(child=serializers.CharField(), help_text="Sources by tool.")


class ReferenceProfilesSerializer(serializers.Serializer[Any]):
    """Describe the list of reference profiles. The list has exactly one profile."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ReferenceProfileSerializer(many=True)


class ReferenceProfileList(ApiView):
    """Return the reference profile, from which normalised throughput is computed."""

    @extend_schema(operation_id="reference_profiles", responses=ReferenceProfilesSerializer)
    def get(self, request: Request) -> Response:
        """Return the reference profile: the baseline levels, and the source of the levels."""
        page = {"next": None, "previous": None, "results": [PROFILE]}
        return Response(ReferenceProfilesSerializer(page).data)
