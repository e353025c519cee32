"""HTTP of the recommendation and of the cipher catalogue."""

from django.http import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.ciphers.cipher_catalogue import cipher_catalogue
from analysis.ciphers.cipher_policies import policies
from api.http.api_view import ApiView
from api.http.conditional import of_present_data
from api.recommendation_serializers import CatalogueSerializer, RecommendationSerializer
from questions.near_names import none_of
from questions.parameters import CHOICES
from questions.recommendation_parameters import (
    RECOMMENDATION_PARAMETERS,
    recommendation_question,
)
from results.recommendation.advice import UnknownHosts, advise
from results.recommendation.measured_ssh import TooManyHosts
from store.data_version import DataState


class CipherList(ApiView):
    """The cipher catalogue."""

    @extend_schema(
        operation_id="ciphers",
        parameters=[OpenApiParameter("tool", OpenApiTypes.STR, enum=CHOICES["tool"])],
        responses=CatalogueSerializer,
    )
    def get(self, request: Request) -> Response:
        """Every cipher with its kind, its status and why, and which OpenSSH has it."""
        tool = request.query_params.get("tool")
        if tool and tool not in CHOICES["tool"]:
            raise ValidationError({"tool": none_of(tool, CHOICES["tool"])})
        catalogue = cipher_catalogue()
        answer = {
            "rules_version": catalogue.rules_version,
            "scope": catalogue.scope,
            "sources": catalogue.sources,
            "policies": list(policies().values()),
            "next": None,
            "previous": None,
            "results": [one for one in catalogue.ciphers if tool in (None, "", one.tool)],
        }
        return Response(CatalogueSerializer(answer).data)


class RecommendationView(ApiView):
    """Which ciphers a host, a pair or a group should prefer."""

    @extend_schema(
        operation_id="recommendation",
        parameters=RECOMMENDATION_PARAMETERS,
        responses=RecommendationSerializer,
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The order with what it gains and rests on, and the lines for ssh_config and sshd_config.

        For one host `host=KEY`, for a pair `client=KEY&server=KEY`, for a group several hosts or
        the comparison's filters.
        """
        question = recommendation_question(request.query_params)
        if question.empty:
            need = "Name host=KEY, or client=KEY and server=KEY, or a filter such as tag=KEY:VALUE."
            raise ValidationError({"host": need})
        page = request.build_absolute_uri(reverse("recommend"))

        def answer(_: DataState) -> Response:
            advice = advise(question, page, timezone.now())
            return Response(RecommendationSerializer(advice).data)

        try:
            return of_present_data(request, answer)
        except UnknownHosts as error:
            raise NotFound(f"There is no host with the key {error}.") from None
        except TooManyHosts as error:
            raise ValidationError({"host": str(error)}) from None
