"""HTTP of the recommendation and of the cipher catalogue."""

from django.http import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.cipher_catalogue import cipher_catalogue
from analysis.cipher_policies import policies
from runs.api.conditional import of_present_data
from runs.api.known_parameters import ApiView
from runs.api.near_names import none_of
from runs.api.parameters import CHOICES
from runs.api.recommendation_parameters import recommendation_question
from runs.api.recommendation_serializers import CatalogueSerializer, RecommendationSerializer
from runs.api.schema import FILTER_PARAMETERS
from runs.data_version import DataState
from runs.queries.recommendation import TooManyHosts
from runs.recommendation_question import LINK_KEYS
from runs.recommendations import UnknownHosts, advise

RECOMMENDATION_PARAMETERS = [
    OpenApiParameter("policy", OpenApiTypes.STR, enum=tuple(policies())),
    OpenApiParameter(
        "method",
        OpenApiTypes.STR,
        enum=CHOICES["method"],
        description="Default: that by which all hosts measured most ciphers.",
    ),
    OpenApiParameter("client", OpenApiTypes.STR, description="Key of a host; of a pair."),
    OpenApiParameter("server", OpenApiTypes.STR, description="Key of a host; of a pair."),
    OpenApiParameter(
        "link",
        OpenApiTypes.STR,
        description=f"Between the two: {', '.join(LINK_KEYS)}, or bits per second.",
    ),
    *FILTER_PARAMETERS,
]


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
