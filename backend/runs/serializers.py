from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from runs.models import Measurement, Run

NULLABLE: dict[str, Any] = {"allow_null": True}

SSH_LIBRARY = "Library that ssh uses (`ssh -V`); same as `openssl` if unknown."


def label(source: str, help_text: str = "") -> serializers.CharField:
    """Return a field whose value is null until the run has been processed."""
    return serializers.CharField(source=source, default=None, help_text=help_text, **NULLABLE)


class RunSummarySerializer(serializers.ModelSerializer[Run]):
    status = serializers.ChoiceField(Run.Status.values)
    # The field's name is also an attribute of the base class, which DRF removes from the class.
    source = serializers.ChoiceField(Run.Source.values)  # type: ignore[assignment]
    host = label("host.slug", "Key of the host for filters.")
    host_name = serializers.CharField(source="name")
    cpu = label("environment.cpu.label")
    os = label("environment.os_version.label")
    openssl = label("environment.openssl.label")
    ssh_library = label("environment.of_ssh.label", SSH_LIBRARY)
    openssh = label("environment.openssh.label")
    agent = serializers.CharField()
    measurement_count = serializers.IntegerField(help_text="Number of series.")
    conditions = serializers.ListField(child=serializers.JSONField())
    tags = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            *("run_id", "status", "rejection", "source", "host_id", "host", "host_name"),
            *("started_at", "finished_at", "received_at", "cpu", "os", "openssl", "ssh_library"),
            *("openssh", "acceleration", "agent", "measurement_count", "conditions", "tags"),
        )


class MeasurementSerializer(serializers.ModelSerializer[Measurement]):
    """Describe a measurement. Rates are in bytes per second."""

    tool = serializers.CharField(source="series.tool")
    cipher = serializers.CharField(source="series.cipher")
    operation = serializers.CharField(source="series.operation")
    block_size = serializers.IntegerField(source="series.block_size", **NULLABLE)
    threads = serializers.IntegerField(source="series.threads")
    mac = serializers.CharField(source="series.mac")
    negotiated_mac = serializers.CharField(source="negotiated.mac", default="")
    negotiated_kex = serializers.CharField(source="negotiated.kex", default="")
    compression = serializers.BooleanField(source="series.compression")
    method = serializers.CharField(source="series.method")
    pinned = serializers.BooleanField(source="series.pinned")
    target_kind = serializers.CharField(source="series.target_kind")
    target_name = serializers.CharField(source="series.target_name")
    acceleration = serializers.CharField(source="series.acceleration")
    spread = serializers.FloatField(help_text="1.4826 * MAD / median, a fraction.", **NULLABLE)
    normalised = serializers.FloatField(**NULLABLE)
    samples = serializers.ListField(child=serializers.JSONField())

    class Meta:
        model = Measurement
        fields = (
            *("tool", "cipher", "operation", "block_size", "threads", "mac", "negotiated_mac"),
            *("negotiated_kex", "compression", "method", "pinned", "target_kind", "target_name"),
            *("acceleration", "n", "median", "minimum", "maximum", "spread", "noisy"),
            *("implausible", "normalised", "cpu_seconds_per_gb", "cpu_seconds_per_gb_spread"),
            "samples",
        )


class SpeedIndexSerializer(serializers.Serializer[Any]):
    tool = serializers.CharField()
    index = serializers.FloatField()
    uncertainty = serializers.FloatField(**NULLABLE)
    families = serializers.ListField(child=serializers.CharField())


class RunDetailSerializer(RunSummarySerializer):
    environment = serializers.JSONField(
        source="document.environment", help_text="As in the run document."
    )
    skipped = serializers.ListField(child=serializers.JSONField())
    provenance = serializers.JSONField()
    text_format = serializers.CharField(
        source="imported_text.format", default="", help_text="ID of the imported text, if any."
    )
    speed_indices = SpeedIndexSerializer(many=True)
    measurements = serializers.SerializerMethodField()

    class Meta(RunSummarySerializer.Meta):
        fields = (
            *RunSummarySerializer.Meta.fields,
            *("environment", "skipped", "provenance", "text_format", "parser_version"),
            *("acceleration_evidence", "acceleration_advice", "acceleration_factor"),
            *("speed_indices", "measurements"),
        )

    @extend_schema_field(MeasurementSerializer(many=True))
    def get_measurements(self, run: Run) -> Any:
        return MeasurementSerializer(run.measurements.shown(tries=True), many=True).data


class ChangedRunSerializer(serializers.ModelSerializer[Run]):
    """Validate the fields of a run that editors can change."""

    hidden = serializers.BooleanField(
        help_text="Exclude the run from all lists and statistics, or include it again."
    )

    class Meta:
        model = Run
        fields = ("hidden", "run_id")
        read_only_fields = ("run_id",)
