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
    """Describe a range of releases from `since` (included) to `until` (excluded).

    Null means that the range has no limit in this direction.
    """

    since = Char(**NULLABLE)
    until = Char(**NULLABLE)


class AssessmentSerializer(Shape):
    """Describe the security of a cipher with a status, a reason and a reference."""

    status = serializers.ChoiceField(STATUSES, source="assessment.status")
    reason = Char(source="assessment.reason")
    reference = Char(source="assessment.reference", **NULLABLE)


class AdvisorySerializer(AssessmentSerializer):
    """Describe a weakness in a range of OpenSSH releases, and a cipher's status in this range."""

    ends = serializers.ChoiceField(
        ["either", "server"], help_text="End of the connection that is affected."
    )
    affected = VersionRangeSerializer()
    assumed_when_unknown = serializers.BooleanField()


class OpenSshSupportSerializer(Shape):
    """Describe which OpenSSH releases support a cipher.

    `client_default` and `server_default`: releases that enable the cipher by default.
    """

    present = VersionRangeSerializer()
    client_default = VersionRangeSerializer(**NULLABLE)
    server_default = VersionRangeSerializer(**NULLABLE)


class CipherSerializer(AssessmentSerializer):
    """Describe a cipher of ssh or openssl. Key size and block size are in bits."""

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
    """Describe a security policy. `statuses`: the cipher statuses that the policy allows."""

    name = Char()
    statuses = serializers.ListField(child=serializers.ChoiceField(STATUSES))
    meaning = Char()


class CatalogueSerializer(Shape):
    """List all known ciphers and policies. The list always has a single page."""

    rules_version = Char()
    scope = Char(help_text="Meaning of the version ranges.")
    sources = serializers.ListField(child=Char())
    policies = PolicySerializer(many=True)
    next = Char(help_text="Always null.", **NULLABLE)
    previous = Char(help_text="Always null.", **NULLABLE)
    results = CipherSerializer(many=True)


class RateSerializer(Shape):
    """Describe the rate of a cipher over the loopback interface of a host.

    `median` is in bytes per second.
    """

    median = Float()
    n = Int(help_text="Number of tries.")
    spread = Float(help_text="1.4826 * MAD / median, a fraction.")
    noise = Float(help_text="Fraction of the median, 0.01 to 0.9.")
    method = Char()
    cpu_seconds_per_gb = Float(**NULLABLE)
    doubtful = serializers.BooleanField(help_text="True if noisy or from a disturbed run.")


class GainSerializer(Shape):
    """Compare the rate of a cipher with the rate of the cipher `over`.

    `lowest` and `highest`: bounds of `ratio`, which result from the noise of both rates.
    """

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
    """Describe a host whose results the recommendation uses.

    `client` and `server`: OpenSSH versions of the host.
    """

    id = Int()
    host = Char(source="key", help_text="Key of the host.")
    name = Char()
    client = Char(**NULLABLE)
    server = Char(**NULLABLE)
    default_cipher = Char(**NULLABLE)


class TodaySerializer(Shape):
    """Describe the default cipher of the clients.

    `gain`: gain of the recommended cipher relative to this default.
    """

    cipher = Char(source="default", **NULLABLE)
    gain = GainSerializer(**NULLABLE)
    gain_unknown = Char(help_text="Reason for an unknown gain.", **NULLABLE)


class LossSerializer(Shape):
    """Compare the best cipher for a single host with the recommended cipher for the group.

    Rates are in bytes per second.
    """

    host = Char(source="host.key")
    own_best = Char()
    own_best_rate = Float()
    common_rate = Float()
    loss = Float(help_text="Fraction of the host's best rate.")


class UnrankedSerializer(Shape):
    """Describe a cipher that is not in the ranking, with the reason."""

    cipher = Char()
    reason = Char()
    rate = Float(help_text="Bytes per second; null if not measured with this method.", **NULLABLE)
    over_first = GainSerializer(help_text="Rate relative to the first cipher.", **NULLABLE)
    would_be_faster = serializers.BooleanField(source="is_faster")


class EvidenceRunSerializer(Shape):
    """Identify a run whose results the recommendation uses."""

    run_id = serializers.UUIDField()
    started_at = serializers.DateTimeField(**NULLABLE)
    host = Char()


class RecommendationSerializer(Shape):
    """Rank ciphers for a host, for a client and a server, or for a group of hosts.

    The response also identifies the runs, and contains lines for ssh_config and sshd_config.
    """

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
        """Return all known ciphers with their properties, security status and OpenSSH support."""
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
        """Recommend ciphers, with the gain in speed and lines for ssh_config and sshd_config.

        Use `host=KEY` for a single host, and `client=KEY&server=KEY` for a client and a server. For
        a group, use several `host` parameters or the filters of a comparison.
        """
        advice = advise(self.form.question, request.build_absolute_uri(reverse("recommend")))
        return Response(RecommendationSerializer(advice).data)
