from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from cipherspeed.cipher_catalogue import STATUSES, cipher_catalogue
from compare.question import TOOLS
from core.api_view import ApiView
from core.parameters import Choice, ParameterForm
from recommend.advice import advise
from recommend.forms import RecommendationForm
from runs.serializers import NULLABLE

Shape = serializers.Serializer[Any]
Char, Float, Int = serializers.CharField, serializers.FloatField, serializers.IntegerField


class VersionRangeSerializer(Shape):
    """Select releases from `since` up to but excluding `until`; null is open."""

    since = Char(**NULLABLE)
    until = Char(**NULLABLE)


class AssessmentSerializer(Shape):
    """Rate the security of a cipher, with a reason and a reference."""

    status = serializers.ChoiceField(STATUSES, source="assessment.status")
    reason = Char(source="assessment.reason")
    reference = Char(source="assessment.reference", **NULLABLE)


class AdvisorySerializer(AssessmentSerializer):
    """Describe a weakness of some releases, and the cipher's status in these releases."""

    ends = serializers.ChoiceField(
        ["either", "server"], help_text="End of the connection that is affected."
    )
    affected = VersionRangeSerializer()
    assumed_when_unknown = serializers.BooleanField()


class OpenSshSupportSerializer(Shape):
    """List the OpenSSH releases that support the cipher, and those that use it by default."""

    present = VersionRangeSerializer()
    client_default = VersionRangeSerializer(**NULLABLE)
    server_default = VersionRangeSerializer(**NULLABLE)


class CipherSerializer(AssessmentSerializer):
    """Describe a cipher of ssh or openssl; sizes in bits."""

    name = Char()
    tool = Char()
    family = Char()
    mode = Char()
    key_bits = Int()
    block_bits = Int(help_text="Null for stream ciphers.", **NULLABLE)
    aead = serializers.BooleanField(help_text="True for authenticated encryption.")
    advisories = AdvisorySerializer(many=True)
    openssh = OpenSshSupportSerializer(help_text="Null for openssl.", **NULLABLE)


class PolicySerializer(Shape):
    """List the statuses that a policy includes."""

    name = Char()
    statuses = serializers.ListField(child=serializers.ChoiceField(STATUSES))
    meaning = Char()


class CatalogueSerializer(Shape):
    """List all ciphers in one page."""

    rules_version = Char()
    scope = Char(help_text="Meaning of the version ranges.")
    sources = serializers.ListField(child=Char())
    policies = PolicySerializer(many=True)
    next = Char(help_text="Always null.", **NULLABLE)
    previous = Char(help_text="Always null.", **NULLABLE)
    results = CipherSerializer(many=True)


class RateSerializer(Shape):
    """Describe the rate of a cipher on the loopback of a host, in bytes per second."""

    median = Float()
    n = Int(help_text="Number of tries.")
    spread = Float(help_text="1.4826 * MAD / median, a fraction.")
    noise = Float(help_text="Fraction of the median, 0.01 to 0.9.")
    method = Char()
    cpu_seconds_per_gb = Float(**NULLABLE)
    doubtful = serializers.BooleanField(help_text="True if noisy or from a disturbed run.")


class GainSerializer(Shape):
    """Compare the rates of two ciphers, with bounds due to noise."""

    over = Char(help_text="Null if the hosts of a group have different defaults.", **NULLABLE)
    ratio = Float(help_text="Geometric mean for a group.")
    lowest = Float()
    highest = Float()
    percent = Float()
    beyond_noise = serializers.BooleanField()
    hosts = Int(help_text="Number of hosts with a result for their default.")
    slower = Int(help_text="Number of these hosts that become measurably slower.")
    cpu_seconds_saved_per_gb = Float(**NULLABLE)


class PlaceSerializer(Shape):
    cipher = Char()
    reason = Char()
    ahead_of = Char(help_text="Faster cipher, ranked lower because it is less secure.", **NULLABLE)
    median = Float(
        source="speed.median", help_text="B/s: estimate for a pair, geometric mean for a group."
    )
    low = Float(source="speed.least", help_text="Lower bound within the noise.")
    high = Float(source="speed.most", help_text="Upper bound within the noise.")
    status = serializers.ChoiceField(STATUSES, source="assessment.status")
    status_reason = Char(source="assessment.reason")
    reference = Char(source="assessment.reference", **NULLABLE)
    measured = RateSerializer(
        source="rates",
        many=True,
        help_text="Of the host, or of client and server; empty for a group.",
    )
    gain = GainSerializer(help_text="Gain over the default.", **NULLABLE)
    slower_than_default = Char(
        help_text="Reason for ranking the cipher before a faster default.", **NULLABLE
    )
    limited_by = serializers.ChoiceField(["client", "server", "link"], **NULLABLE)
    fills = serializers.ListField(child=Char(), help_text="Links that the cipher saturates.")
    share = Float(
        help_text="For a group: share of each host's best rate, geometric mean.", **NULLABLE
    )


class AdvisedHostSerializer(Shape):
    """Describe a host used for the recommendation, with its OpenSSH versions."""

    id = Int()
    host = Char(source="key", help_text="Key of the host.")
    name = Char()
    client = Char(**NULLABLE)
    server = Char(**NULLABLE)
    default_cipher = Char(**NULLABLE)


class TodaySerializer(Shape):
    """Identify the clients' default cipher, and the gain of the recommended cipher over it."""

    cipher = Char(source="default", **NULLABLE)
    gain = GainSerializer(**NULLABLE)
    gain_unknown = Char(help_text="Reason for an unknown gain.", **NULLABLE)


class LossSerializer(Shape):
    """Describe the cost of the shared cipher for a host; rates in bytes per second."""

    host = Char(source="host.key")
    own_best = Char()
    own_best_rate = Float()
    common_rate = Float()
    loss = Float(help_text="Fraction of the host's best rate.")


class UnrankedSerializer(Shape):
    """Identify an unranked cipher, with the reason."""

    cipher = Char()
    reason = Char()
    rate = Float(help_text="Bytes per second; null if not measured with this method.", **NULLABLE)
    over_first = GainSerializer(help_text="Rate relative to the first cipher.", **NULLABLE)
    would_be_faster = serializers.BooleanField(source="is_faster")


class EvidenceRunSerializer(Shape):
    """Identify a run used for the recommendation."""

    run_id = serializers.UUIDField()
    started_at = serializers.DateTimeField(**NULLABLE)
    host = Char()


class RecommendationSerializer(Shape):
    """Rank ciphers for a host, a pair or a group, with the evidence."""

    kind = serializers.ChoiceField(["host", "pair", "group"], source="question.kind")
    policy = PolicySerializer(source="question.policy")
    rules_version = Char()
    method = Char(source="result.method", help_text="Method of all results.", **NULLABLE)
    link = Float(source="question.link", help_text="Link speed in bits per second.", **NULLABLE)
    nothing = Char(help_text="Reason for an empty ranking.", **NULLABLE)
    order = PlaceSerializer(source="result.order", many=True)
    today = TodaySerializer(source="result")
    losses = LossSerializer(
        source="result.losses", many=True, help_text="For a group, by key of the host."
    )
    unranked = UnrankedSerializer(source="result.excluded", many=True)
    ssh_config = Char(**NULLABLE)
    sshd_config = Char(**NULLABLE)
    hosts = AdvisedHostSerializer(many=True)
    left_out = serializers.ListField(
        source="silent", child=Char(), help_text="Names of requested hosts without results."
    )
    measured = Char(help_text="Evidence as text.", **NULLABLE)
    caution = Char(help_text="Reason to measure again before changing anything.", **NULLABLE)
    runs = EvidenceRunSerializer(many=True)
    permalink = serializers.URLField(help_text="URL of the recommendation's page.")


class CipherForm(ParameterForm):
    tool = Choice(TOOLS)


class CipherList(ApiView):
    parameters = {"GET": CipherForm}

    @extend_schema(operation_id="ciphers", responses=CatalogueSerializer)
    def get(self, request: Request) -> Response:
        """Return every cipher with its properties, status, reason and OpenSSH support."""
        tool = self.form.given.get("tool")
        catalogue = cipher_catalogue()
        answer = {
            "rules_version": catalogue.rules_version,
            "scope": catalogue.scope,
            "sources": catalogue.sources,
            "policies": catalogue.policies.values(),
            "next": None,
            "previous": None,
            "results": [cipher for cipher in catalogue.ciphers if tool in (None, cipher.tool)],
        }
        return Response(CatalogueSerializer(answer).data)


class RecommendationView(ApiView):
    parameters = {"GET": RecommendationForm}

    @extend_schema(operation_id="recommendation", responses=RecommendationSerializer)
    def get(self, request: Request) -> Response:
        """Recommend ciphers with gain, evidence, and the lines for ssh_config and sshd_config.

        Use `host=KEY` for a host, `client=KEY&server=KEY` for a pair, and several hosts or
        the filters of the comparison for a group.
        """
        advice = advise(self.form.question, request.build_absolute_uri(reverse("recommend")))
        return Response(RecommendationSerializer(advice).data)
