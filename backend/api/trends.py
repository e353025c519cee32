"""GET trends/: one host's history of one series, with its changes and breaks of the tool."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.http.api_view import ApiView
from api.serializers import NULLABLE
from documents.environment_difference import Difference
from questions.schema import FILTER_PARAMETERS
from questions.trend_parameters import history_query
from results.hosts.history import (
    METRICS,
    FoundBreak,
    FoundChange,
    History,
    HistoryQuery,
    Point,
    UnknownHost,
    history,
)
from store.reference_profiles import UnknownProfile


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


class TrendChangeSerializer(serializers.Serializer[Any]):
    """A step: `before` and `after` are medians of the runs on each side."""

    run_id = serializers.UUIDField(help_text="The first run that shows it.")
    previous_run_id = serializers.UUIDField()
    started_at = serializers.DateTimeField()
    direction = serializers.ChoiceField(["faster", "slower", "cheaper", "dearer"])
    before = serializers.FloatField()
    after = serializers.FloatField()
    ratio = serializers.FloatField()
    threshold = serializers.FloatField(help_text="The relative difference it had to exceed.")
    window = serializers.IntegerField(help_text="Runs before it that it was compared with.")
    confirmed = serializers.BooleanField()
    doubt = serializers.CharField(help_text="Why it is not confirmed.", **NULLABLE)
    words = serializers.CharField()
    environment_changes = DifferenceSerializer(
        many=True, help_text="Null for changes older than the latest 50.", **NULLABLE
    )


class TrendSourceSerializer(serializers.Serializer[Any]):
    """Where a change of the tool is written."""

    release = serializers.CharField()
    url = serializers.URLField()
    says = serializers.CharField()


class TrendBreakSerializer(serializers.Serializer[Any]):
    """A change of the measuring tool; no percentage is stated across it."""

    run_id = serializers.UUIDField(help_text="The first run by the changed tool.")
    previous_run_id = serializers.UUIDField()
    started_at = serializers.DateTimeField()
    id = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    words = serializers.CharField()
    summary = serializers.CharField()
    effect = serializers.CharField()
    sources = TrendSourceSerializer(many=True)


class TrendSerializer(serializers.Serializer[Any]):
    """A host's history of one series, the oldest run first."""

    host = serializers.CharField()
    host_id = serializers.IntegerField()
    metric = serializers.ChoiceField(METRICS)
    unit = serializers.CharField(help_text="B/s or s/GB.")
    profile = serializers.CharField(**NULLABLE)
    series = TrendSeriesSerializer()
    points = TrendPointSerializer(many=True)
    changes = TrendChangeSerializer(many=True)
    breaks = TrendBreakSerializer(many=True)
    cut = serializers.BooleanField(help_text="There are older runs than the latest 1,000.")
    undated = serializers.IntegerField(help_text="Runs whose time nobody knows.")
    without_value = serializers.IntegerField(help_text="Runs without a value in this metric.")


def _series(query: HistoryQuery) -> dict[str, Any]:
    ssh = query.series.tool == "ssh"
    applies = (
        ("method", "mac", "compression", "target_kind")
        if ssh
        else ("operation", "block_size", "threads")
    )
    return {
        **dict.fromkeys(TrendSeriesSerializer().fields),
        **{name: getattr(query.series, name) for name in ("tool", "acceleration", *applies)},
        "cipher": query.cipher,
        "target_name": query.target_name or None,
    }


def _between(previous: Point, point: Point) -> dict[str, Any]:
    return {
        "run_id": point.run_id,
        "previous_run_id": previous.run_id,
        "started_at": point.started_at,
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {"what": one.what, "before": one.before, "after": one.after, "words": one.words}


def _change(found: FoundChange) -> dict[str, Any]:
    change = found.change
    names = ("direction", "before", "after", "ratio", "threshold", "window")
    return {
        **_between(found.previous, found.point),
        **{name: getattr(change, name) for name in (*names, "confirmed", "doubt", "words")},
        "environment_changes": (
            None if found.environment is None else [_difference(one) for one in found.environment]
        ),
    }


def _break(found: FoundBreak) -> dict[str, Any]:
    broken = found.broken
    return {
        **_between(found.previous, found.point),
        **{name: getattr(broken, name) for name in ("before", "after", "words")},
        **{name: getattr(broken.change, name) for name in ("id", "summary", "effect", "sources")},
    }


def trend_json(found: History) -> dict[str, Any]:
    """The answer of the API."""
    return dict(
        TrendSerializer(
            {
                "host": found.query.host,
                "host_id": found.host_id,
                "metric": found.query.series.metric,
                "unit": found.unit,
                "profile": found.profile,
                "series": _series(found.query),
                "points": found.points,
                "changes": [_change(one) for one in found.changes],
                "breaks": [_break(one) for one in found.breaks],
                "cut": found.cut,
                "undated": found.undated,
                "without_value": found.without_value,
            }
        ).data
    )


_HELP = {
    "block_size": "openssl; default: what most of the host's runs have, of several the largest.",
    "threads": "openssl; default 1.",
    "operation": "openssl: encrypt (default) or decrypt.",
    "method": "ssh: pipeline (default) or steady.",
    "mac": "ssh; asked for or negotiated.",
    "compression": "ssh; default off.",
    "target_kind": "ssh: loopback (default) or remote.",
    "target_name": "ssh: the name of a remote target.",
    "pinned": "ssh: 1 or 0; default: of each run the series that is not pinned, if it has one.",
    "acceleration": "default (default) or masked.",
    "profile": "Reference profile by name, for normalised; default the active one.",
}

PARAMETERS = [
    OpenApiParameter("host", OpenApiTypes.STR, required=True, description="Key of the host."),
    OpenApiParameter("tool", OpenApiTypes.STR, required=True, enum=("ssh", "openssl")),
    OpenApiParameter("cipher", OpenApiTypes.STR, required=True),
    OpenApiParameter("metric", OpenApiTypes.STR, enum=METRICS),
    *(OpenApiParameter(name, OpenApiTypes.STR, description=said) for name, said in _HELP.items()),
    *(one for one in FILTER_PARAMETERS if one.name != "host"),
]


class TrendView(ApiView):
    """One host's history of one series."""

    @extend_schema(operation_id="trends", parameters=PARAMETERS, responses=TrendSerializer)
    def get(self, request: Request) -> Response:
        """Its runs, the oldest first, the changes among them, and breaks of the tool."""
        query = history_query(request.query_params)
        try:
            found = history(query)
        except UnknownHost as error:
            raise NotFound(f"There is no host {error}.") from None
        except UnknownProfile as error:
            raise ValidationError({"profile": error.sentence}) from None
        return Response(trend_json(found))
