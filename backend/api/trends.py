"""GET trends/: one host's history of one series, with its changes and breaks of the tool."""

from dataclasses import replace
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from api.http.api_view import ApiView
from api.serializers import NULLABLE
from compare.question import TOOLS, SeriesForm
from results.hosts.history import METRICS, HistoryQuery, UnknownHost, history
from runs.filters import Hosts
from runs.parameters import Choice, Number, Switch, Text, Values


class TrendSeriesSerializer(serializers.Serializer[Any]):
    """The series; what does not apply to its tool is null."""

    tool = serializers.CharField()
    cipher = serializers.CharField()
    operation = serializers.CharField(**NULLABLE)
    block_size = serializers.IntegerField(**NULLABLE)
    threads = serializers.IntegerField(**NULLABLE)
    method = serializers.CharField(**NULLABLE)
    mac = serializers.CharField(help_text="Null: the client's own choice.", **NULLABLE)
    compression = serializers.BooleanField(**NULLABLE)
    target_kind = serializers.CharField(**NULLABLE)
    target_name = serializers.CharField(**NULLABLE)
    acceleration = serializers.CharField()

    def to_representation(self, instance: HistoryQuery) -> dict[str, Any]:
        """What applies to the tool."""
        series = instance.series
        ssh = ("method", "mac", "compression", "target_kind")
        applies = ssh if series.tool == "ssh" else ("operation", "block_size", "threads")
        return {
            **dict.fromkeys(self.fields),
            **{name: getattr(series, name) for name in ("tool", "acceleration", *applies)},
            "cipher": instance.cipher,
            "target_name": instance.target_name or None,
        }


class TrendPointSerializer(serializers.Serializer[Any]):
    """What one run says, in the trend's unit."""

    run_id = serializers.UUIDField()
    started_at = serializers.DateTimeField()
    median = serializers.FloatField()
    spread = serializers.FloatField(help_text="Of the tries, a fraction.", **NULLABLE)
    n = serializers.IntegerField(help_text="Tries.")
    noisy = serializers.BooleanField()
    conditions = serializers.ListField(child=serializers.JSONField())
    environment = serializers.CharField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """One fact that two environments state differently."""

    what = serializers.CharField()
    before = serializers.CharField(**NULLABLE)
    after = serializers.CharField(**NULLABLE)
    words = serializers.CharField()


class BetweenSerializer(serializers.Serializer[Any]):
    """What lies between two runs."""

    run_id = serializers.UUIDField(source="point.run_id", help_text="The first run that shows it.")
    previous_run_id = serializers.UUIDField(source="previous.run_id")
    started_at = serializers.DateTimeField(source="point.started_at")


class TrendChangeSerializer(BetweenSerializer):
    """A step: `before` and `after` are medians of the runs on each side."""

    direction = serializers.ChoiceField(
        ["faster", "slower", "cheaper", "dearer"], source="change.direction"
    )
    before = serializers.FloatField(source="change.before")
    after = serializers.FloatField(source="change.after")
    ratio = serializers.FloatField(source="change.ratio")
    threshold = serializers.FloatField(
        source="change.threshold", help_text="The relative difference it had to exceed."
    )
    window = serializers.IntegerField(
        source="change.window", help_text="Runs before it that it was compared with."
    )
    confirmed = serializers.BooleanField(source="change.confirmed")
    doubt = serializers.CharField(
        source="change.doubt", help_text="Why it is not confirmed.", **NULLABLE
    )
    words = serializers.CharField(source="change.words")
    environment_changes = DifferenceSerializer(
        source="environment",
        many=True,
        help_text="Null for changes older than the latest 50.",
        **NULLABLE,
    )


class TrendSourceSerializer(serializers.Serializer[Any]):
    """Where a change of the tool is written."""

    release = serializers.CharField()
    url = serializers.URLField()
    says = serializers.CharField()


class TrendBreakSerializer(BetweenSerializer):
    """A change of the measuring tool; no percentage is stated across it."""

    id = serializers.CharField(source="broken.change.id")
    before = serializers.CharField(source="broken.before")
    after = serializers.CharField(source="broken.after")
    words = serializers.CharField(source="broken.words")
    summary = serializers.CharField(source="broken.change.summary")
    effect = serializers.CharField(source="broken.change.effect")
    sources = TrendSourceSerializer(source="broken.change.sources", many=True)


class TrendSerializer(serializers.Serializer[Any]):
    """A host's history of one series, the oldest run first."""

    host = serializers.CharField(source="query.host")
    host_id = serializers.IntegerField()
    metric = serializers.ChoiceField(METRICS, source="query.series.metric")
    unit = serializers.CharField(help_text="B/s or s/GB.")
    profile = serializers.CharField(**NULLABLE)
    series = TrendSeriesSerializer(source="query")
    points = TrendPointSerializer(many=True)
    changes = TrendChangeSerializer(many=True)
    breaks = TrendBreakSerializer(many=True)
    cut = serializers.BooleanField(help_text="There are older runs than the latest 1,000.")
    undated = serializers.IntegerField(help_text="Runs whose time nobody knows.")
    without_value = serializers.IntegerField(help_text="Runs without a value in this metric.")


class TrendForm(SeriesForm):
    """One series of one host."""

    host = Hosts(
        one=True,
        required=True,
        help_text="Key or number of the host.",
        error_messages={
            "required": "Name one host by its key or number, as /api/v1/hosts/ lists it."
        },
    )
    tool = Choice(
        TOOLS, required=True, error_messages={"required": "Name the tool, ssh or openssl."}
    )
    cipher = Values(
        one=True,
        required=True,
        error_messages={"required": "Name one cipher: a history is that of one series."},
    )
    metric = Choice(METRICS)
    block_size = Number(
        help_text="openssl; default: what most of the host's runs have, of several the largest."
    )
    target_name = Text(help_text="ssh: the name of a remote target.")
    pinned = Switch(
        help_text="ssh: 1 or 0; default: of each run the series that is not pinned, if it has one."
    )


class TrendView(ApiView):
    """One host's history of one series."""

    parameters = {"GET": TrendForm}

    @extend_schema(operation_id="trends", responses=TrendSerializer)
    def get(self, request: Request) -> Response:
        """Its runs, the oldest first, the changes among them, and breaks of the tool."""
        given = self.asked.given
        series = replace(self.asked.query, block_size=given.get("block_size"))
        query = HistoryQuery(series, given.get("pinned"), given.get("target_name", ""))
        try:
            found = history(query)
        except UnknownHost as error:
            raise NotFound(f"There is no host {error}.") from None
        return Response(TrendSerializer(found).data)
