"""HTTP of the recommendation and of the cipher catalogue."""

from django.http import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.ciphers.cipher_catalogue import cipher_catalogue
from analysis.ciphers.cipher_policies import policies
from api.http.api_view import ApiView
from api.http.conditional import of_present_data
from api.recommendation_serializers import CatalogueSerializer, RecommendationSerializer
from questions.parameters import checked, choice, described
from questions.recommendation_parameters import RECOMMENDATION, recommendation_question
from results.recommendation.advice import UnknownHosts, advise
from results.recommendation.measured_ssh import TooManyHosts
from results.selection import TOOLS
from store.data_version import DataState

LISTED = [choice("tool", TOOLS)]


class CipherList(ApiView):
    """The cipher catalogue."""

    @extend_schema(
        operation_id="ciphers",
        parameters=described(LISTED),
        responses=CatalogueSerializer,
    )
    def get(self, request: Request) -> Response:
        """Every cipher with its kind, its status and why, and which OpenSSH has it."""
        tool = checked(request.query_params, LISTED).get("tool")
        catalogue = cipher_catalogue()
        answer = {
            "rules_version": catalogue.rules_version,
            "scope": catalogue.scope,
            "sources": catalogue.sources,
            "policies": list(policies().values()),
            "next": None,
            "previous": None,
            "results": [one for one in catalogue.ciphers if tool in (None, one.tool)],
        }
        return Response(CatalogueSerializer(answer).data)


class RecommendationView(ApiView):
    """Which ciphers a host, a pair or a group should prefer."""

    @extend_schema(
        operation_id="recommendation",
        parameters=described(RECOMMENDATION),
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
