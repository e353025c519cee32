from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hosts.editing import LONGEST_NAME
from hosts.models import Note
from runs.models import Host, Measurement, Run
from runs.serializers import (
    NULLABLE,
    SSH_LIBRARY,
    MeasurementSerializer,
    RunSummarySerializer,
    label,
)


class HostSerializer(serializers.ModelSerializer[Host]):
    """Describe a host, with the environment and the AES verdict of its latest run."""

    host = serializers.CharField(source="slug", help_text="Key for filters.")
    runs = serializers.IntegerField(source="run_count")
    last_run_id = serializers.UUIDField(source="latest_run.run_id")
    last_run_at = serializers.DateTimeField(source="latest_run.started_at", **NULLABLE)
    cpu = label("latest_run.environment.cpu.label")
    os = label("latest_run.environment.os_version.label")
    openssl = label("latest_run.environment.openssl.label")
    ssh_library = label("latest_run.environment.of_ssh.label", SSH_LIBRARY)
    openssh = label("latest_run.environment.openssh.label")
    virtualization = label("latest_run.environment.virtualization.label")
    acceleration = serializers.CharField(source="latest_run.acceleration", help_text="AES verdict.")
    acceleration_evidence = serializers.CharField(
        source="latest_run.acceleration_evidence", help_text="Reason for the verdict."
    )
    acceleration_advice = serializers.CharField(
        source="latest_run.acceleration_advice", help_text="Recommended action, if any."
    )
    acceleration_factor = serializers.FloatField(
        source="latest_run.acceleration_factor",
        help_text="AES speed divided by AES speed without AES hardware.",
        **NULLABLE,
    )
    speed_index = serializers.FloatField(
        source="latest_run.speed_index.index",
        help_text="Speed index of the latest run.",
        **NULLABLE,
    )
    speed_index_tool = serializers.ChoiceField(
        ["openssl", "ssh"],
        source="latest_run.speed_index.tool",
        help_text="Tool of the baselines: openssl if available.",
        **NULLABLE,
    )
    former_names = serializers.ListField(
        child=serializers.CharField(), help_text="Former names of the host."
    )
    same_machine_id = serializers.CharField(
        source="twin.slug",
        help_text=("Key of a host with the same machine ID. Merge both unless one is a clone."),
        **NULLABLE,
    )

    class Meta:
        model = Host
        fields: tuple[str, ...] = (
            "id",
            "host",
            "name",
            "published",
            "runs",
            "last_run_id",
            "last_run_at",
            "cpu",
            "os",
            "openssl",
            "ssh_library",
            "openssh",
            "virtualization",
            "acceleration",
            "acceleration_evidence",
            "acceleration_advice",
            "acceleration_factor",
            "speed_index",
            "speed_index_tool",
            "former_names",
            "same_machine_id",
        )


class HostDetailSerializer(HostSerializer):
    """Describe a host, with the latest result of each measured series and the recent runs."""

    environment = serializers.JSONField(
        source="latest_run.document.environment", help_text="From the latest run."
    )
    results = serializers.SerializerMethodField()
    recent_runs = serializers.SerializerMethodField()

    class Meta(HostSerializer.Meta):
        fields = (*HostSerializer.Meta.fields, "environment", "results", "recent_runs")

    @extend_schema_field(MeasurementSerializer(many=True))
    def get_results(self, host: Host) -> Any:
        latest = Measurement.objects.latest_of(host.pk).shown(tries=True)
        return MeasurementSerializer(latest, many=True).data

    @extend_schema_field(RunSummarySerializer(many=True))
    def get_recent_runs(self, host: Host) -> Any:
        return RunSummarySerializer(Run.objects.recent_of(host), many=True).data


class ChangedHostSerializer(serializers.ModelSerializer[Host]):
    """Describe the fields of a host that an editor can change."""

    host = serializers.CharField(source="slug", help_text="Key for filters.", read_only=True)
    name = serializers.CharField(max_length=LONGEST_NAME)

    class Meta:
        model = Host
        fields = ("id", "host", "name")


class MergeSerializer(serializers.Serializer[Any]):
    """Identify the host that is merged into the host in the URL."""

    other = serializers.IntegerField(min_value=1, max_value=2**63 - 1, help_text="ID of the host.")


class HostField(serializers.SlugRelatedField[Host]):
    """Identify a host by its key or number."""

    def to_internal_value(self, data: Any) -> Host:
        host = Host.objects.find(str(data))
        if host is None:
            raise serializers.ValidationError(Host.objects.missing(str(data)))
        return host


class NoteSerializer(serializers.ModelSerializer[Note]):
    host = HostField(
        slug_field="slug",
        queryset=Host.objects.all(),
        help_text="Key of the host; a new note also accepts its number.",
    )
    at = serializers.DateTimeField(required=False, help_text="Time of the event. Default: now.")

    class Meta:
        model = Note
        fields = ("id", "at", "text", "host", "made_by", "created_at")
        read_only_fields = ("made_by",)
