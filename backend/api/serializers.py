"""The JSON shape of answers. Values come ready from `results`; nothing is computed here."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from results.hosts.runs import run_measurements
from store.models import Run

NULLABLE: dict[str, Any] = {"allow_null": True}

SSH_LIBRARY = "What ssh itself uses (`ssh -V`); where no run states it, as `openssl`."


def _label(source: str, help_text: str = "") -> serializers.CharField:
    """Return a field that is null until the run has been processed."""
    return serializers.CharField(source=source, default=None, help_text=help_text, **NULLABLE)


class ListedHostSerializer(serializers.Serializer[Any]):
    """How a host is listed."""

    name = serializers.CharField()


class ImportedRunSerializer(serializers.Serializer[Any]):
    """One run of an import."""

    run_id = serializers.UUIDField()
    status = serializers.ChoiceField(["accepted", "ready", "rejected"])
    url = serializers.URLField()


class AcceptedSerializer(ImportedRunSerializer):
    """The answer to an upload."""

    host = ListedHostSerializer(
        required=False, help_text="Where the document says that its host was named."
    )


class RunSummarySerializer(serializers.ModelSerializer[Run]):
    """One run in a list."""

    status = serializers.ChoiceField(Run.Status.values)
    # A field named like an attribute of the base class: DRF takes it out of the class.
    source = serializers.ChoiceField(Run.Source.values)  # type: ignore[assignment]
    host = _label("host.slug", "The host's key in filters.")
    host_name = serializers.CharField(source="name")
    cpu = _label("environment.cpu.label")
    os = _label("environment.os_version.label")
    openssl = _label("environment.openssl.label")
    ssh_library = _label("environment.of_ssh.label", SSH_LIBRARY)
    openssh = _label("environment.openssh.label")
    agent = serializers.CharField()
    measurement_count = serializers.IntegerField(help_text="How many series it holds.")
    conditions = serializers.ListField(child=serializers.JSONField())
    tags = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            *("run_id", "status", "rejection", "source", "host_id", "host", "host_name"),
            *("started_at", "finished_at", "received_at", "cpu", "os", "openssl", "ssh_library"),
            *("openssh", "acceleration", "agent", "measurement_count", "conditions", "tags"),
        )


class MeasurementSerializer(serializers.Serializer[Any]):
    """One series of a run; rates in bytes per second."""

    tool = serializers.CharField()
    cipher = serializers.CharField()
    operation = serializers.CharField()
    block_size = serializers.IntegerField(**NULLABLE)
    threads = serializers.IntegerField()
    mac = serializers.CharField()
    negotiated_mac = serializers.CharField()
    negotiated_kex = serializers.CharField()
    compression = serializers.BooleanField()
    method = serializers.CharField()
    pinned = serializers.BooleanField()
    target_kind = serializers.CharField()
    target_name = serializers.CharField()
    acceleration = serializers.CharField()
    n = serializers.IntegerField()
    median = serializers.FloatField(**NULLABLE)
    minimum = serializers.FloatField(**NULLABLE)
    maximum = serializers.FloatField(**NULLABLE)
    spread = serializers.FloatField(help_text="MAD-based, a fraction.", **NULLABLE)
    noisy = serializers.BooleanField()
    implausible = serializers.BooleanField()
    normalised = serializers.FloatField(**NULLABLE)
    cpu_seconds_per_gb = serializers.FloatField(**NULLABLE)
    cpu_seconds_per_gb_spread = serializers.FloatField(**NULLABLE)
    samples = serializers.ListField(child=serializers.JSONField())


class SpeedIndexSerializer(serializers.Serializer[Any]):
    """The run's speed index in one tool."""

    tool = serializers.CharField()
    index = serializers.FloatField()
    uncertainty = serializers.FloatField(**NULLABLE)
    families = serializers.ListField(child=serializers.CharField())


def _read_from_summary(
    detail: dict[str, Any], listed: type[serializers.Serializer[Any]]
) -> dict[str, Any]:
    """The fields of a detail, those that lists have too read from its summary."""
    for name in listed().get_fields():
        detail[name].source = f"summary.{name}"
    return detail


class RunDetailSerializer(RunSummarySerializer):
    """One run with everything that is known of it."""

    environment = serializers.JSONField(
        source="document.environment", help_text="As the run document has it."
    )
    skipped = serializers.ListField(child=serializers.JSONField())
    provenance = serializers.JSONField()
    text_format = serializers.CharField(
        source="imported_text.format",
        default="",
        help_text="Of the text it was read from, if imported.",
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
        return MeasurementSerializer(run_measurements(run), many=True).data


class HostSummarySerializer(serializers.Serializer[Any]):
    """One host with its latest environment and acceleration verdict."""

    id = serializers.IntegerField()
    host = serializers.CharField(help_text="Its key in filters.")
    name = serializers.CharField()
    published = serializers.BooleanField()
    runs = serializers.IntegerField()
    last_run_id = serializers.UUIDField(**NULLABLE)
    last_run_at = serializers.DateTimeField(**NULLABLE)
    cpu = serializers.CharField(**NULLABLE)
    os = serializers.CharField(**NULLABLE)
    openssl = serializers.CharField(**NULLABLE)
    ssh_library = serializers.CharField(help_text=SSH_LIBRARY, **NULLABLE)
    openssh = serializers.CharField(**NULLABLE)
    virtualization = serializers.CharField(**NULLABLE)
    acceleration = serializers.CharField(help_text="The AES verdict.")
    acceleration_evidence = serializers.CharField(help_text="The reason of the verdict.")
    acceleration_advice = serializers.CharField(help_text="What to do about it, if anything.")
    acceleration_factor = serializers.FloatField(
        help_text="Times that AES is faster than without its instructions.", **NULLABLE
    )
    speed_index = serializers.FloatField(help_text="Of the latest run.", **NULLABLE)
    speed_index_tool = serializers.ChoiceField(
        ["openssl", "ssh"], help_text="Whose baselines it rests on: openssl's if any.", **NULLABLE
    )
    former_names = serializers.ListField(
        child=serializers.CharField(), help_text="Other names of it, which find it too."
    )
    same_machine_id = serializers.CharField(
        source="twin.slug",
        default=None,
        help_text="Key of another host with this machine id: the machine under another name, or a "
        "clone; merge them if they are one.",
        **NULLABLE,
    )


class HostDetailSerializer(HostSummarySerializer):
    """One host with the latest value of every series it measured."""

    environment = serializers.JSONField(**NULLABLE)
    results = MeasurementSerializer(many=True)
    recent_runs = RunSummarySerializer(many=True)

    def get_fields(self) -> dict[str, Any]:
        """The summary's fields beside the detail's own."""
        return _read_from_summary(super().get_fields(), HostSummarySerializer)


class Sparse(serializers.Serializer[Any]):
    """Without those of the fields that are not required of which there is nothing to state."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """What there is."""
        answer: dict[str, Any] = super().to_representation(instance)
        return {
            name: value for name, value in answer.items() if value or self.fields[name].required
        }


class GroupSummarySerializer(Sparse):
    """One cipher in one group, in the comparison's unit."""

    median = serializers.FloatField()
    q1 = serializers.FloatField()
    q3 = serializers.FloatField()
    min = serializers.FloatField(source="minimum")
    max = serializers.FloatField(source="maximum")
    n = serializers.IntegerField()


class SplitValueSerializer(serializers.Serializer[Any]):
    """One value of `split_by`."""

    key = serializers.CharField(source="split_key")
    label = serializers.CharField(source="split_label")  # type: ignore[assignment]  # as `source`


class RatioSerializer(Sparse):
    """A figure by the baseline's; from `low` to `high` with at least 95 %."""

    ratio = serializers.FloatField()
    low = serializers.FloatField(help_text="Null where too few hosts tell.", **NULLABLE)
    high = serializers.FloatField(**NULLABLE)
    n = serializers.IntegerField()
    beyond_noise = serializers.BooleanField(
        help_text="Whether 1 is outside of the interval; null where there is none.", **NULLABLE
    )
    tool_changed = serializers.BooleanField(
        required=False,
        help_text="True where `openssl speed` itself changed between the two: the ratio is none of "
        "the cipher.",
    )


class GroupSerializer(Sparse):
    """One group; `hosts` counts its hosts."""

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # as `source` above
    hosts = serializers.IntegerField()
    values = serializers.DictField(child=GroupSummarySerializer())
    uncertainty = serializers.DictField(
        child=serializers.FloatField(),
        required=False,
        help_text="Of normalised values, by cipher: a factor; absent where it is unknown.",
    )
    single_baseline = serializers.DictField(
        source="families",
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="Of normalised values, by cipher: baselines that some hosts' indices rest on "
        "alone; of these no uncertainty is known.",
    )
    doubtful = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="By cipher: how many of up to five votes are noisy or of a disturbed run; "
        "absent where none is, or more vote.",
    )
    split = SplitValueSerializer(source="*", required=False, help_text="With `split_by`.")
    relative = serializers.DictField(
        source="ratios",
        child=RatioSerializer(),
        required=False,
        help_text="With `relative_to`, by cipher; absent in the baseline itself.",
    )

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Without a split where there is none."""
        answer = super().to_representation(instance)
        if not instance.split_key:
            del answer["split"]
        return answer


class ExcludedSerializer(serializers.Serializer[Any]):
    """Hosts that could not be compared."""

    no_baseline = serializers.IntegerField()
    no_block_size = serializers.IntegerField(
        required=False, help_text="openssl: with these ciphers, and not at this block size."
    )


class RelativeToSerializer(serializers.Serializer[Any]):
    """What figures are relative to."""

    key = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]  # as `source`
        help_text="Null where it has no figure under these filters.", **NULLABLE
    )
    is_host = serializers.BooleanField()


class ComparisonSerializer(Sparse):
    """Section 5 of the contract."""

    tool = serializers.CharField()
    group_by = serializers.CharField()
    metric = serializers.CharField()
    unit = serializers.CharField(help_text="B/s, s/GB or ratio.")
    profile = serializers.CharField(**NULLABLE)
    ciphers = serializers.ListField(child=serializers.CharField())
    groups = GroupSerializer(many=True)
    excluded = ExcludedSerializer()
    split_by = serializers.CharField(required=False)
    relative_to = RelativeToSerializer(required=False)
    matched = serializers.BooleanField(required=False, help_text="Of matched hosts alone.")
