"""HTTP of the recommendation and of the cipher catalogue, with their JSON shapes."""

from typing import Any

from django.http import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.ciphers.cipher_catalogue import STATUSES, cipher_catalogue, policies
from analysis.ciphers.openssh_versions import Bound, VersionRange
from api.http.api_view import ApiView
from api.serializers import NULLABLE
from compare.question import TOOLS
from questions.parameters import checked, choice, described
from questions.recommendation_parameters import RECOMMENDATION, recommendation_question
from results.recommendation.advice import Place, UnknownHosts, advise
from results.recommendation.measured_ssh import TooManyHosts

Shape = serializers.Serializer[Any]


class VersionRangeSerializer(Shape):
    """From release `since` on, up to but without `until`."""

    since = serializers.CharField(help_text="null: it was always so; unknown.", **NULLABLE)
    until = serializers.CharField(help_text="null: it still is so; unknown.", **NULLABLE)
    gone_by = serializers.CharField(
        help_text="Where `until` is unknown: a release that is known to lie behind it.", **NULLABLE
    )

    def to_representation(self, instance: VersionRange) -> dict[str, str | None]:
        """Versions as text: "6.2"."""
        bounds = {name: getattr(instance, name) for name in ("since", "until", "gone_by")}
        return {name: _version(bound) for name, bound in bounds.items()}


def _version(bound: Bound) -> str | None:
    return ".".join(map(str, bound)) if isinstance(bound, tuple) else bound


class AdvisorySerializer(Shape):
    """A weakness that some releases have, and what the cipher is worth with it."""

    status = serializers.ChoiceField(STATUSES, source="assessment.status")
    reason = serializers.CharField(source="assessment.reason")
    reference = serializers.CharField(source="assessment.reference", **NULLABLE)
    ends = serializers.ChoiceField(["either", "server"], help_text="Whose release counts.")
    affected = VersionRangeSerializer()
    assumed_when_unknown = serializers.BooleanField()


class OpenSshSupportSerializer(Shape):
    """Which releases of OpenSSH know the cipher, and which use it by default."""

    present = VersionRangeSerializer()
    client_default = VersionRangeSerializer(**NULLABLE)
    server_default = VersionRangeSerializer(**NULLABLE)


class CipherSerializer(Shape):
    """One cipher of one tool; sizes in bits."""

    name = serializers.CharField()
    tool = serializers.CharField()
    family = serializers.CharField()
    mode = serializers.CharField()
    key_bits = serializers.IntegerField()
    block_bits = serializers.IntegerField(help_text="null: a stream cipher.", **NULLABLE)
    aead = serializers.BooleanField(help_text="It authenticates what it encrypts.")
    status = serializers.ChoiceField(STATUSES, source="assessment.status")
    reason = serializers.CharField(source="assessment.reason")
    reference = serializers.CharField(source="assessment.reference", **NULLABLE)
    advisories = AdvisorySerializer(many=True)
    openssh = OpenSshSupportSerializer(help_text="null for openssl.", **NULLABLE)


class PolicySerializer(Shape):
    """Which statuses a recommendation may name."""

    name = serializers.CharField()
    statuses = serializers.ListField(child=serializers.ChoiceField(STATUSES))
    meaning = serializers.CharField()


class CatalogueSerializer(Shape):
    """All ciphers at once, in the form of every list."""

    rules_version = serializers.CharField()
    scope = serializers.CharField(help_text="How the version ranges are meant.")
    sources = serializers.ListField(child=serializers.CharField())
    policies = PolicySerializer(many=True)
    next = serializers.CharField(help_text="Always null: all are here.", **NULLABLE)
    previous = serializers.CharField(help_text="Always null.", **NULLABLE)
    results = CipherSerializer(many=True)


class RateSerializer(Shape):
    """A cipher as one host measured it, both ends on it; bytes per second."""

    median = serializers.FloatField()
    n = serializers.IntegerField(help_text="Tries.")
    spread = serializers.FloatField(help_text="MAD-based, a fraction.")
    noise = serializers.FloatField(help_text="Of the median, a fraction: 0.01 to 0.9.")
    margin = serializers.FloatField(help_text="The noise as far as a tie may cost it: to 0.05.")
    method = serializers.CharField()
    cpu_seconds_per_gb = serializers.FloatField(**NULLABLE)


class GainSerializer(Shape):
    """A cipher against today's default: ratio of the rates, with its bounds by the noise."""

    over = serializers.CharField()
    ratio = serializers.FloatField()
    lowest = serializers.FloatField()
    highest = serializers.FloatField()
    percent = serializers.FloatField()
    beyond_noise = serializers.BooleanField()
    cpu_seconds_saved_per_gb = serializers.FloatField(**NULLABLE)


class PlaceSerializer(Shape):
    """A cipher in its place; what this kind of recommendation has not is null."""

    cipher = serializers.CharField()
    reason = serializers.CharField()
    ahead_of = serializers.CharField(
        help_text="Less safe and faster only within the noise.", **NULLABLE
    )
    median = serializers.FloatField(help_text="B/s; of a pair: expected.", **NULLABLE)
    low = serializers.FloatField(help_text="The median less all its noise.", **NULLABLE)
    high = serializers.FloatField(help_text="The median and all its noise.", **NULLABLE)
    in_client = serializers.BooleanField(help_text="Whether its ssh has it.", **NULLABLE)
    in_server = serializers.BooleanField(help_text="Whether its sshd has it.", **NULLABLE)
    status = serializers.ChoiceField(STATUSES, source="assessment.status")
    status_reason = serializers.CharField(source="assessment.reason")
    reference = serializers.CharField(source="assessment.reference", **NULLABLE)
    measured = RateSerializer(
        source="rates", many=True, help_text="On the host; on client and server."
    )
    doubtful = serializers.SerializerMethodField(
        help_text="Hosts whose figure is noisy or of a disturbed run."
    )
    gain = GainSerializer(help_text="Of a host or pair: over today's default.", **NULLABLE)
    slower_than_default = serializers.CharField(
        help_text="Why the cipher is preferred to today's default although it is slower.",
        **NULLABLE,
    )
    limited_by = serializers.ChoiceField(["client", "server", "link"], **NULLABLE)
    fills = serializers.DictField(
        child=serializers.BooleanField(allow_null=True),
        help_text="Of a pair: link -> filled; null: within the noise.",
        **NULLABLE,
    )
    share = serializers.FloatField(
        help_text="Of a group: of each host's best, geometric mean.", **NULLABLE
    )

    def get_doubtful(self, place: Place) -> int:
        """So many of its rates."""
        return sum(place.doubtful)


class AdvisedHostSerializer(Shape):
    """A host behind the figures, and what its OpenSSH is."""

    id = serializers.IntegerField()
    host = serializers.CharField(source="key", help_text="Its key.")
    name = serializers.CharField(source="ciphers.name")
    client = serializers.CharField(source="ciphers.client", **NULLABLE)
    server = serializers.CharField(source="ciphers.server", **NULLABLE)
    default_cipher = serializers.CharField(source="ciphers.default_cipher", **NULLABLE)


class HostsLeftOutSerializer(Shape):
    """Hosts of a group without figures."""

    count = serializers.IntegerField()
    names = serializers.ListField(child=serializers.CharField(), help_text="The first of them.")


class GroupGainSerializer(Shape):
    """The first place against the default of each host: geometric mean of the ratios."""

    ratio = serializers.FloatField()
    hosts = serializers.IntegerField(help_text="So many measured their default.")
    slower = serializers.IntegerField(help_text="Of these get slower, beyond the noise.")


class TodaySerializer(Shape):
    """The default of the host, or of a pair's client, and what the first place gains over it."""

    cipher = serializers.CharField(**NULLABLE)
    measured = RateSerializer(source="rate", **NULLABLE)
    gain = GainSerializer(**NULLABLE)
    gain_unknown = serializers.CharField(source="unknown", **NULLABLE)
    gain_of_hosts = GroupGainSerializer(help_text="Of a group.", **NULLABLE)


class LossSerializer(Shape):
    """What a host gives up by the common first cipher; rates in bytes per second."""

    host = serializers.CharField(source="host.key")
    own_best = serializers.CharField(source="figures.own_best")
    own_best_rate = serializers.FloatField(source="figures.own_best_rate")
    common_rate = serializers.FloatField(source="figures.common_rate")
    loss = serializers.FloatField(
        source="figures.loss", help_text="A fraction of its own best rate."
    )


class UnrankedSerializer(Shape):
    """A cipher without a place, and why."""

    cipher = serializers.CharField()
    reason = serializers.CharField()
    rate = serializers.FloatField(
        help_text="B/s, of a group the share; null: not measured by this method.", **NULLABLE
    )
    over_first = GainSerializer(help_text="That rate against the first place.", **NULLABLE)
    would_be_faster = serializers.BooleanField(source="is_faster")
    measured_alone_by = serializers.CharField(
        source="alone",
        help_text="Of a pair the one end that measured it: it is that fast at most.",
        **NULLABLE,
    )


class EvidenceRunSerializer(Shape):
    """A run that figures come from."""

    run_id = serializers.UUIDField()
    started_at = serializers.DateTimeField(**NULLABLE)
    host = serializers.CharField()


class RecommendationSerializer(Shape):
    """An order of ciphers with everything that it rests on."""

    kind = serializers.ChoiceField(["host", "pair", "group"], source="question.kind")
    policy = PolicySerializer()
    rules_version = serializers.CharField()
    made_at = serializers.DateTimeField()
    method = serializers.CharField(help_text="By which all rates were measured.", **NULLABLE)
    link = serializers.FloatField(source="question.link", help_text="Bits per second.", **NULLABLE)
    nothing = serializers.CharField(help_text="Why there is no order.", **NULLABLE)
    order = PlaceSerializer(source="places", many=True)
    today = TodaySerializer()
    losses = LossSerializer(many=True, help_text="Of a group, by key of the host.")
    unranked = UnrankedSerializer(many=True)
    ssh_config = serializers.CharField(source="configuration.ssh", **NULLABLE)
    sshd_config = serializers.CharField(source="configuration.sshd", **NULLABLE)
    hosts = AdvisedHostSerializer(many=True)
    left_out = HostsLeftOutSerializer()
    measured = serializers.CharField(help_text="The evidence in words.", **NULLABLE)
    caution = serializers.CharField(
        help_text="Why to measure again before anything is changed.", **NULLABLE
    )
    runs = EvidenceRunSerializer(many=True)
    permalink = serializers.URLField(help_text="The page that shows these figures.")


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

        try:
            advice = advise(question, page, timezone.now())
        except UnknownHosts as error:
            raise NotFound(f"There is no host with the key {error}.") from None
        except TooManyHosts as error:
            raise ValidationError({"host": str(error)}) from None
        return Response(RecommendationSerializer(advice).data)
