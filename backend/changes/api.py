"""API of changes (list, entry, status and note) and of trends."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.generics import RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.audit import Actor, Subject, actor_of, record
from changes.filters import ChangeFilter
from changes.models import FleetChange, FleetChangeMember
from core.api_view import ApiView, ByCursor, ListView
from core.permissions import MayDecideChanges
from hosts.history import METRICS, HistoryForm, history
from runs.models import Host
from runs.serializers import NULLABLE

MEMBERS_OF_A_LIST, MEMBERS_OF_AN_ENTRY = 10, 1000
"""Maximum number of members returned, latest first."""


class MemberSerializer(serializers.ModelSerializer[FleetChangeMember]):
    """A host's part of a change: one mode of a cipher family by one tool, or the AES verdict."""

    host_id = serializers.IntegerField(source="run.host_id")
    host = serializers.CharField(source="run.host.slug", help_text="Its key in filters.")
    name = serializers.CharField(source="run.host.name")
    run_id = serializers.UUIDField(
        source="run.run_id", help_text="The first changed run; of a silent host its last."
    )
    previous_run_id = serializers.UUIDField(source="previous.run_id", default=None, **NULLABLE)
    cipher = serializers.CharField(source="series.cipher", default=None, **NULLABLE)
    block_size = serializers.IntegerField(source="series.block_size", default=None, **NULLABLE)
    confidence = serializers.CharField(source="get_confidence_display")
    differences = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = FleetChangeMember
        fields = (
            *("host_id", "host", "name", "at", "run_id", "previous_run_id", "tool", "family"),
            *("cipher", "block_size", "series_count", "ratio", "before", "after", "confidence"),
            *("differences", "ended_at"),
        )


class FleetChangeSerializer(serializers.ModelSerializer[FleetChange]):
    """A change with its latest members."""

    status = serializers.ChoiceField(FleetChange.Status.choices, source="state")
    hosts = serializers.IntegerField()
    ratio = serializers.FloatField(help_text="After / before, the mean of its hosts.", **NULLABLE)
    lowest = serializers.FloatField(**NULLABLE)
    highest = serializers.FloatField(**NULLABLE)
    confidence = serializers.ChoiceField(
        FleetChangeMember.Confidence.labels,
        help_text="high: at least twice the size that counts as a change; low: fewer than three "
        "runs before it.",
    )
    members = MemberSerializer(
        many=True, source="named", help_text="In the list up to 10, of one entry 1,000."
    )

    class Meta:
        model = FleetChange
        fields = (
            *("id", "kind", "direction", "family", "status", "difference", "first_at", "last_at"),
            *("fixed_at", "note", "decided_by", "decided_at", "hosts", "ratio", "lowest"),
            *("highest", "confidence", "members"),
        )


class DecisionSerializer(serializers.ModelSerializer[FleetChange]):
    """Status and note set by an editor."""

    class Meta:
        model = FleetChange
        fields = ("status", "note")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject empty requests, unknown members and unprintable notes."""
        if not attrs or set(self.initial_data) - set(self.fields):
            raise serializers.ValidationError("Say what to change, and nothing else: status, note.")
        if not attrs.get("note", "").replace("\r", "").replace("\n", " ").isprintable():
            raise serializers.ValidationError({"note": "Printable characters only."})
        return attrs


@transaction.atomic
def decide(change: FleetChange, sent: Any, by: Actor) -> None:
    """Set status and note of a change; raise `ValidationError` if they are invalid."""
    change = FleetChange.objects.select_for_update().get(pk=change.pk)
    before = {"status": change.status, "note": change.note}
    decision = DecisionSerializer(change, data=sent, partial=True)
    decision.is_valid(raise_exception=True)
    after = {**before, **decision.validated_data}
    if after != before:
        decision.save(decided_by=by.name[:200], decided_at=timezone.now())
        record(by, "change.decide", Subject("change", change.pk, str(change)), before, after)


class ByLatest(ByCursor):
    """Paginate by the time of the latest change of a host."""

    ordering = ("-last_at", "-id")  # type: ignore[assignment]  # DRF takes several


def with_members(changes: Sequence[FleetChange]) -> list[FleetChange]:
    chosen = FleetChange.objects.filter(pk__in=[change.pk for change in changes])
    return list(chosen.with_members(MEMBERS_OF_A_LIST))


class FleetChangeList(ListView):
    """List changes of speed and AES verdict, and silent hosts, newest first."""

    pagination_class = ByLatest
    filterset_class = ChangeFilter
    queryset = FleetChange.objects.listed()
    serializer_class = FleetChangeSerializer

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        return with_members(super().paginate_queryset(queryset) or ())


class FleetChangeView(ApiView, RetrieveAPIView[FleetChange]):
    """A change with its hosts; signed-in editors set its status and note."""

    permissions = {"PATCH": MayDecideChanges}
    queryset = FleetChange.objects.listed().with_members(MEMBERS_OF_AN_ENTRY)
    serializer_class = FleetChangeSerializer
    lookup_url_kwarg = "change_id"

    @extend_schema(request=DecisionSerializer, responses=FleetChangeSerializer)
    def patch(self, request: Request, **_: Any) -> Response:
        """Set status or note. Requires a signed-in editor."""
        decide(self.get_object(), request.data, actor_of(request))
        return self.get(request)


class PointSerializer(serializers.Serializer[Any]):
    """Result of a run in the trend's unit."""

    run_id = serializers.UUIDField(source="run.run_id")
    started_at = serializers.DateTimeField()
    median = serializers.FloatField(source="value")
    spread = serializers.FloatField(help_text="Of the tries, a fraction.", **NULLABLE)
    n = serializers.IntegerField(help_text="Tries.")
    noisy = serializers.BooleanField()
    conditions = serializers.ListField(child=serializers.JSONField(), source="run.conditions")
    environment = serializers.CharField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """A difference between two environments."""

    what = serializers.CharField()
    before = serializers.CharField(**NULLABLE)
    after = serializers.CharField(**NULLABLE)
    words = serializers.CharField()


class BetweenSerializer(serializers.Serializer[Any]):
    """Something between two runs."""

    run_id = serializers.UUIDField(source="point.run.run_id", help_text="The first changed run.")
    previous_run_id = serializers.UUIDField(source="previous.run.run_id")
    started_at = serializers.DateTimeField(source="point.started_at")


class StepSerializer(BetweenSerializer):
    """A step: `before` and `after` are medians of the runs on each side."""

    direction = serializers.ChoiceField(["faster", "slower", "cheaper", "dearer"])
    before = serializers.FloatField()
    after = serializers.FloatField()
    ratio = serializers.FloatField(source="step.ratio")
    threshold = serializers.FloatField(
        source="step.threshold", help_text="The relative difference that it exceeds."
    )
    window = serializers.IntegerField(
        source="step.window", help_text="Runs before it that it is compared with."
    )
    confidence = serializers.ChoiceField(["high", "medium", "low"], source="step.confidence")
    words = serializers.CharField()
    environment_changes = DifferenceSerializer(
        source="environment",
        many=True,
        help_text="Null for changes older than the latest 50.",
        **NULLABLE,
    )


class SourceSerializer(serializers.Serializer[Any]):
    """Source for a change of the tool."""

    release = serializers.CharField()
    url = serializers.URLField()
    says = serializers.CharField()


class BreakSerializer(BetweenSerializer):
    """A change of the tool itself; results are not compared across it."""

    id = serializers.CharField(source="broken.change.id")
    before = serializers.CharField(source="broken.before")
    after = serializers.CharField(source="broken.after")
    words = serializers.CharField(source="broken.words")
    summary = serializers.CharField(source="broken.change.summary")
    effect = serializers.CharField(source="broken.change.effect")
    sources = SourceSerializer(source="broken.change.sources", many=True)


class TrendSerializer(serializers.Serializer[Any]):
    """History of a series on a host, oldest run first."""

    host = serializers.CharField(source="host.slug")
    host_id = serializers.IntegerField(source="host.pk")
    metric = serializers.ChoiceField(tuple(METRICS))
    unit = serializers.CharField(help_text="B/s or s/GB.")
    profile = serializers.CharField(**NULLABLE)
    series = serializers.DictField(help_text="What of the series was asked for or is the default.")
    points = PointSerializer(many=True)
    changes = StepSerializer(many=True)
    breaks = BreakSerializer(many=True)
    cut = serializers.BooleanField(help_text="There are older runs than the latest 1,000.")
    undated = serializers.IntegerField(help_text="Runs of unknown time.")
    without_value = serializers.IntegerField(help_text="Runs without a value in this metric.")


class TrendView(ApiView):
    """Get the history of a series on a host."""

    parameters = {"GET": HistoryForm}

    @extend_schema(operation_id="trends", responses=TrendSerializer)
    def get(self, request: Request) -> Response:
        """Return the runs of a series, oldest first, with changes and breaks of the tool."""
        asked = self.asked.given
        key = asked.pop("host")
        host = Host.objects.find(key)
        if host is None:
            raise NotFound(Host.objects.missing(key))
        return Response(TrendSerializer(history(host, **asked)).data)
