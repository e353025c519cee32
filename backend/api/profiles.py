"""HTTP of the reference profile."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.profiles.reference_profile import PROFILE
from api.http.api_view import ListView
from api.serializers import ReferenceProfileSerializer


class ReferenceProfileList(ListView):
    """The frozen reference profile of the normalisation."""

    @extend_schema(
        operation_id="reference_profiles", responses=ReferenceProfileSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """The one profile there is, with its levels and where they come from."""
        found = [ReferenceProfileSerializer(PROFILE).data]
        return Response({"next": None, "previous": None, "results": found})
