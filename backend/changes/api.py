from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.audit import Actor, Subject, actor_of, record
from changes.filters import ChangeFilter
from changes.models import FleetChange, FleetChangeMember
from core.api_view import ApiView, ByCursor, ListView, sent
from core.permissions import MayDecideChanges
from runs.serializers import NULLABLE

# Maximum number of members of a change in a response, newest first.
MEMBERS_OF_A_LIST, MEMBERS_OF_AN_ENTRY = 10, 1000


class MemberSerializer(serializers.ModelSerializer[FleetChangeMember]):
    """Describe a change on one host.

    The change concerns the speed of a cipher family with a tool, the AES verdict (whether the host
    uses AES hardware), or missing runs.
    """

    host_id = serializers.IntegerField(source="run.host_id")
    host = serializers.CharField(source="run.host.slug", help_text="Key for filters.")
    name = serializers.CharField(source="run.host.name")
    run_id = serializers.UUIDField(
        source="run.run_id", help_text="First changed run, or last run of a silent host."
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
    status = serializers.ChoiceField(FleetChange.Status.choices, source="state")
    hosts = serializers.IntegerField()
    ratio = serializers.FloatField(help_text="Mean ratio (after / before).", **NULLABLE)
    lowest = serializers.FloatField(**NULLABLE)
    highest = serializers.FloatField(**NULLABLE)
    confidence = serializers.ChoiceField(
        FleetChangeMember.Confidence.labels,
        help_text="high: at least twice the threshold; low: fewer than three earlier runs.",
    )
    members = MemberSerializer(
        many=True,
        source="named",
        help_text="Up to 10 members in the list, up to 1,000 in a single change.",
    )

    class Meta:
        model = FleetChange
        fields = (
            *("id", "kind", "direction", "family", "status", "difference", "first_at", "last_at"),
            *("fixed_at", "note", "decided_by", "decided_at", "hosts", "ratio", "lowest"),
            *("highest", "confidence", "members"),
        )


class DecisionSerializer(serializers.ModelSerializer[FleetChange]):
    class Meta:
        model = FleetChange
        fields = ("status", "note")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError("Send status, note or both.")
        return attrs


@transaction.atomic
def decide(change: FleetChange, decision: Mapping[str, Any], by: Actor) -> None:
    changes = FleetChange.objects.filter(pk=change.pk)
    change = changes.select_for_update().get()
    before = {"status": change.status, "note": change.note}
    after = {**before, **decision}
    if after != before:
        changes.update(**after, decided_by=by.name[:200], decided_at=timezone.now())
        record(by, "change.decide", Subject("change", change.pk, str(change)), before, after)


class ByLatest(ByCursor):
    ordering = ("-last_at", "-id")  # type: ignore[assignment]  # DRF takes several


def with_members(changes: Sequence[FleetChange]) -> list[FleetChange]:
    chosen = FleetChange.objects.filter(pk__in=[change.pk for change in changes])
    return list(chosen.with_members(MEMBERS_OF_A_LIST))


class FleetChangeList(ListView):
    """List changes of speed, changes of the AES verdict, and silent hosts, newest first.

    A host is silent if expected runs are missing. The AES verdict states whether a host uses AES
    hardware.
    """

    pagination_class = ByLatest
    filterset_class = ChangeFilter
    queryset = FleetChange.objects.listed()
    serializer_class = FleetChangeSerializer

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        return with_members(super().paginate_queryset(queryset) or ())


class FleetChangeView(ApiView, RetrieveAPIView[FleetChange]):
    """Return a change with the affected hosts. Signed-in editors may set the status and note."""

    permissions = {"PATCH": MayDecideChanges}
    queryset = FleetChange.objects.listed().with_members(MEMBERS_OF_AN_ENTRY)
    serializer_class = FleetChangeSerializer
    lookup_url_kwarg = "change_id"

    @extend_schema(request=DecisionSerializer, responses=FleetChangeSerializer)
    def patch(self, request: Request, **_: Any) -> Response:
        """Set the status or the note of a change. Requires a signed-in editor."""
        decide(self.get_object(), sent(DecisionSerializer, request), actor_of(request))
        return self.get(request)
