"""HTTP of what changed in the fleet: the list, one entry, its status and note, the list as CSV."""

from itertools import chain
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from access.audit import actor_of
from api.editing import changed
from api.http.api_view import ApiView, ByCursor, ListView, sent
from api.http.permissions import MayDecideChanges
from api.serializers import NULLABLE
from compare.files import csv_response, csv_rows
from ingest.edits.notes import LONGEST_NOTE, decide
from questions.list_parameters import CHANGES, change_query
from questions.parameters import described
from results.hosts.fleet_changes import (
    COLUMNS,
    DIRECTIONS,
    HOSTS_OF_A_LIST,
    KINDS,
    STATUSES,
    change_detail,
    change_rows,
    select_changes,
    summaries_of_changes,
)
from store.models import FleetChange

DECIDED = FleetChange.Status.values


class EffectSerializer(serializers.Serializer[Any]):
    """What became of one cipher family."""

    tool = serializers.CharField()
    family = serializers.CharField(help_text="Such as aes-gcm.")
    hosts = serializers.IntegerField()
    ratio = serializers.FloatField(help_text="After / before; of several hosts the median.")
    lowest = serializers.FloatField()
    highest = serializers.FloatField()
    series = serializers.IntegerField(help_text="Series of the family that were compared.")
    agreeing = serializers.IntegerField(help_text="Those that show at least half of it.")


class ChangedHostInListSerializer(serializers.Serializer[Any]):
    """One host's part of a change."""

    id = serializers.IntegerField()
    host = serializers.CharField(help_text="Its key in filters.")
    name = serializers.CharField()
    at = serializers.DateTimeField(help_text="Start of the first changed run, or of the silence.")
    good_at = serializers.DateTimeField(**NULLABLE)
    good_run_id = serializers.UUIDField(help_text="The last run as before.", **NULLABLE)
    first_run_id = serializers.UUIDField(help_text="The first changed run.", **NULLABLE)
    ended_at = serializers.DateTimeField(help_text="It was as before again.", **NULLABLE)
    ended_run_id = serializers.UUIDField(**NULLABLE)
    confirmed = serializers.BooleanField(help_text="It has lasted (docs/method.md).")
    before = serializers.CharField(help_text="The AES verdict before; empty of other kinds.")
    after = serializers.CharField()
    differences = serializers.ListField(
        child=serializers.CharField(), help_text="Of the environment, the likeliest cause first."
    )
    effects = EffectSerializer(many=True)


class CpuOfChangeSerializer(serializers.Serializer[Any]):
    """How many hosts of an entry have this CPU, and how their speed changed."""

    cpu = serializers.CharField()
    hosts = serializers.IntegerField()
    ratio = serializers.FloatField(allow_null=True, help_text="After / before, their median.")


class FleetChangeSerializer(serializers.Serializer[Any]):
    """An entry; of its hosts the latest are named."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(KINDS)
    direction = serializers.ChoiceField(DIRECTIONS)
    status = serializers.ChoiceField(STATUSES)
    cause = serializers.CharField(
        help_text="The likeliest cause in words; empty where none is known, or where as many like"
        " hosts kept their speed with it."
    )
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField(help_text="When the last of its hosts changed.")
    fixed_at = serializers.DateTimeField(**NULLABLE)
    note = serializers.CharField()
    decided_by = serializers.CharField(help_text="Who set status or note.")
    decided_at = serializers.DateTimeField(**NULLABLE)
    hosts = serializers.IntegerField()
    open_hosts = serializers.IntegerField(help_text="Those that are not as before again.")
    confidence = serializers.ChoiceField(["high", "medium", "low"])
    effects = EffectSerializer(many=True)
    cpus = CpuOfChangeSerializer(many=True, help_text="Those that most of the hosts have.")
    members = ChangedHostInListSerializer(
        many=True, help_text=f"In the list the latest {HOSTS_OF_A_LIST}, of one entry up to 200."
    )


class DecisionSerializer(serializers.Serializer[Any]):
    """What a person says of an entry; at least one of them."""

    status = serializers.ChoiceField(DECIDED, required=False, help_text="A later run fixes.")
    note = serializers.CharField(max_length=LONGEST_NOTE, allow_blank=True, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Nothing to do is a mistake of the caller."""
        if not attrs:
            raise serializers.ValidationError("Say what to change: status, note.")
        return attrs


class ByLatest(ByCursor):
    """By when the last host changed."""

    ordering = ("-last_at", "-id")  # type: ignore[assignment]  # DRF takes several


class FleetChangeList(ListView):
    """Changes of the fleet."""

    pagination_class = ByLatest

    @extend_schema(
        operation_id="changes_list",
        parameters=described(CHANGES),
        responses=FleetChangeSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """What changed: speeds, AES verdicts, hosts that went silent; the newest first."""
        found = select_changes(change_query(request.query_params))
        return self.page(request, found, FleetChangeSerializer, summaries_of_changes)


class FleetChangeView(ApiView):
    """One change of the fleet."""

    permissions = {"PATCH": MayDecideChanges}

    @extend_schema(operation_id="changes_read", responses=FleetChangeSerializer)
    def get(self, request: Request, change_id: int) -> Response:
        """The entry with its hosts."""
        return Response(self._entry(change_id))

    @extend_schema(
        operation_id="changes_decide", request=DecisionSerializer, responses=FleetChangeSerializer
    )
    def patch(self, request: Request, change_id: int) -> Response:
        """Acknowledge or ignore it, or write a note. For signed-in editors."""
        self._entry(change_id)
        asked = sent(DecisionSerializer, request)
        by = actor_of(request)
        changed(lambda: decide(change_id, by, **asked))
        return Response(self._entry(change_id))

    @staticmethod
    def _entry(change_id: int) -> Any:
        found = change_detail(change_id)
        if found is None:
            raise NotFound(f"There is no change {change_id}.")
        return FleetChangeSerializer(found).data


class FleetChangesCsv(ApiView):
    """The list as a file."""

    @extend_schema(
        operation_id="changes_csv",
        parameters=described(CHANGES),
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """A row for each host and cipher family, the newest change first."""
        rows = change_rows(change_query(request.query_params))
        return csv_response(csv_rows(chain([COLUMNS], rows)), "ciphermark-changes")
