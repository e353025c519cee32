from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from core.api_view import ApiView
from hosts.history import METRICS, HistoryForm, history
from runs.models import Host
from runs.serializers import NULLABLE


class PointSerializer(serializers.Serializer[Any]):
    """Describe the result of a run. `median` has the unit of the trend (`unit`)."""

    run_id = serializers.UUIDField(source="run.run_id")
    started_at = serializers.DateTimeField()
    median = serializers.FloatField(source="value")
    spread = serializers.FloatField(help_text="Spread of the tries (fraction).", **NULLABLE)
    n = serializers.IntegerField(help_text="Number of tries.")
    noisy = serializers.BooleanField()
    conditions = serializers.ListField(child=serializers.JSONField(), source="run.conditions")
    environment = serializers.CharField()


class DifferenceSerializer(serializers.Serializer[Any]):
    what = serializers.CharField()
    before = serializers.CharField(**NULLABLE)
    after = serializers.CharField(**NULLABLE)
    words = serializers.CharField()


class BetweenSerializer(serializers.Serializer[Any]):
    """Describe a change that happened between two runs."""

    run_id = serializers.UUIDField(source="point.run.run_id", help_text="First changed run.")
    previous_run_id = serializers.UUIDField(source="previous.run.run_id")
    started_at = serializers.DateTimeField(source="point.started_at")


class StepSerializer(BetweenSerializer):
    """Describe a lasting change in speed, with the medians before and after the change."""

    direction = serializers.ChoiceField(["faster", "slower", "cheaper", "dearer"])
    before = serializers.FloatField()
    after = serializers.FloatField()
    ratio = serializers.FloatField(source="step.ratio")
    threshold = serializers.FloatField(
        source="step.threshold", help_text="Threshold: relative difference that the step exceeds."
    )
    window = serializers.IntegerField(
        source="step.window", help_text="Number of previous runs it is compared with."
    )
    confidence = serializers.ChoiceField(["high", "medium", "low"], source="step.confidence")
    words = serializers.CharField()
    environment_changes = DifferenceSerializer(
        source="environment",
        many=True,
        help_text="Null for all but the latest 50 changes.",
        **NULLABLE,
    )


class SourceSerializer(serializers.Serializer[Any]):
    """Cite a source that documents the change in the tool."""

    release = serializers.CharField()
    url = serializers.URLField()
    says = serializers.CharField()


class BreakSerializer(BetweenSerializer):
    """Describe a change in the program `openssl speed`.

    Results from before the change are not compared with results from after the change.
    """

    id = serializers.CharField(source="broken.change.id")
    before = serializers.CharField(source="broken.before")
    after = serializers.CharField(source="broken.after")
    words = serializers.CharField(source="broken.words")
    summary = serializers.CharField(source="broken.change.summary")
    effect = serializers.CharField(source="broken.change.effect")
    sources = SourceSerializer(source="broken.change.sources", many=True)


class TrendSerializer(serializers.Serializer[Any]):
    """Describe the history of a series on a host, oldest run first."""

    host = serializers.CharField(source="host.slug")
    host_id = serializers.IntegerField(source="host.pk")
    metric = serializers.ChoiceField(tuple(METRICS))
    unit = serializers.CharField(help_text="B/s or s/GB.")
    profile = serializers.CharField(**NULLABLE)
    series = serializers.DictField(help_text="Requested or default values of the series.")
    points = PointSerializer(many=True)
    changes = StepSerializer(many=True)
    breaks = BreakSerializer(many=True)
    cut = serializers.BooleanField(help_text="True if only the latest 1,000 runs are included.")
    undated = serializers.IntegerField(help_text="Number of undated runs.")
    without_value = serializers.IntegerField(help_text="Number of runs without this metric.")


class TrendView(ApiView):
    parameters = {"GET": HistoryForm}

    @extend_schema(operation_id="trends", responses=TrendSerializer)
    def get(self, request: Request) -> Response:
        """Return the results of a series on a host, oldest first, with speed and tool changes."""
        parameters = self.form.given
        key = parameters.pop("host")
        host = Host.objects.find(key)
        if host is None:
            raise NotFound(Host.objects.missing(key))
        return Response(TrendSerializer(history(host, **parameters)).data)
