"""The JSON shape of reference profiles, and their comparison."""

from typing import Any

from rest_framework import serializers

from analysis.groups import GroupSummary
from api.serializers import NULLABLE
from profiles.making import TOOLS
from profiles.profile_comparison import ProfileComparison

FACTOR: dict[str, Any] = {**NULLABLE, "help_text": "A factor; null where it is unknown."}


class KnownLevelSerializer(serializers.Serializer[Any]):
    """A family's level, bytes per second."""

    family = serializers.CharField()
    level = serializers.FloatField()
    uncertainty = serializers.FloatField(**FACTOR)
    machines = serializers.IntegerField(help_text="Machines that measured it.")


class UnknownLevelSerializer(serializers.Serializer[Any]):
    """A family without a level."""

    family = serializers.CharField()
    reason = serializers.CharField()


class ResidualSerializer(serializers.Serializer[Any]):
    """ln(measured / fitted level) of a machine that fits badly."""

    machine = serializers.CharField()
    family = serializers.CharField()
    residual = serializers.FloatField()


class FitSerializer(serializers.Serializer[Any]):
    """How the levels were fitted; residuals in ln."""

    reference = serializers.CharField(help_text="Null: the mean of the fleet.", **NULLABLE)
    machines = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Machines that nothing links to the others.")
    cells = serializers.IntegerField()
    spare = serializers.IntegerField(help_text="Cells - machines - families + 1.")
    rms = serializers.FloatField(**NULLABLE)
    scatter = serializers.FloatField(**NULLABLE)
    one_family_uncertainty = serializers.FloatField(**FACTOR)
    largest = ResidualSerializer(many=True)


class ToolLevelsSerializer(serializers.Serializer[Any]):
    """One tool of a profile."""

    tool = serializers.CharField()
    known = KnownLevelSerializer(many=True)
    unknown = UnknownLevelSerializer(many=True)
    fit = FitSerializer()


class ProgressSerializer(serializers.Serializer[Any]):
    """Runs whose speed indices are there."""

    done = serializers.IntegerField(source="runs_done")
    total = serializers.IntegerField(source="runs_total")


class ReferenceProfileSerializer(serializers.Serializer[Any]):
    """A frozen reference profile; levels in bytes per second."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.ChoiceField(["computing", "ready", "active", "retired"])
    active = serializers.BooleanField()
    origin = serializers.ChoiceField(["published", "run", "fleet"])
    made_from = serializers.CharField()
    run_id = serializers.UUIDField(source="run.run_id", **NULLABLE)
    levels = serializers.JSONField()
    tools = ToolLevelsSerializer(many=True)
    progress = ProgressSerializer(source="*")
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(**NULLABLE)
    retired_at = serializers.DateTimeField(**NULLABLE)


class ProfileRequestSerializer(serializers.Serializer[Any]):
    """What a new profile is to be made from."""

    name = serializers.CharField(max_length=100)
    run_id = serializers.UUIDField(required=False, help_text="With `from` run.", **NULLABLE)
    reference = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=220,
        help_text="Key of the host at speed 1, with `from` fleet; default: the fleet's mean.",
    )
    tools = serializers.ListField(
        child=serializers.ChoiceField(TOOLS), required=False, min_length=1, max_length=len(TOOLS)
    )

    def get_fields(self) -> dict[str, Any]:
        """The fields above and `from`, which is a word of Python's own."""
        return {**super().get_fields(), "from": serializers.ChoiceField(["run", "fleet"])}


class LevelPairSerializer(serializers.Serializer[Any]):
    """A family's level in both profiles, bytes per second; null where it is unknown."""

    tool = serializers.CharField()
    family = serializers.CharField()
    level = serializers.FloatField(source="first", **NULLABLE)
    with_level = serializers.FloatField(source="second", **NULLABLE)
    ratio = serializers.FloatField(**NULLABLE)


class ValuePairSerializer(serializers.Serializer[Any]):
    """A cipher's normalised median under both profiles, bytes per second."""

    median = serializers.FloatField()
    with_median = serializers.FloatField()
    ratio = serializers.FloatField()
    n = serializers.IntegerField()


class PairedGroupSerializer(serializers.Serializer[Any]):
    """A group under both profiles."""

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the base class
    values = serializers.DictField(child=ValuePairSerializer())


class ProfileComparisonSerializer(serializers.Serializer[Any]):
    """Two profiles, and the same runs under both."""

    profile = serializers.CharField()
    with_profile = serializers.CharField()
    tool = serializers.CharField()
    group_by = serializers.CharField()
    levels = LevelPairSerializer(many=True)
    ciphers = serializers.ListField(child=serializers.CharField())
    groups = PairedGroupSerializer(many=True)
    left_out = serializers.IntegerField(help_text="Hosts that not both can normalise.")

    def to_representation(self, instance: ProfileComparison) -> dict[str, Any]:
        """The two comparisons, cell by cell."""
        first, second = instance.under_first, instance.under_second
        return {
            "profile": instance.first.name,
            "with_profile": instance.second.name,
            "tool": first.tool,
            "group_by": first.group_by,
            "levels": LevelPairSerializer(instance.levels, many=True).data,
            "ciphers": list(first.ciphers),
            "groups": [
                {
                    "key": one.key,
                    "label": one.label,
                    "values": {
                        cipher: _value_pair(one.values[cipher], other.values[cipher])
                        for cipher in one.values
                    },
                }
                for one, other in zip(first.groups, second.groups, strict=True)
            ],
            "left_out": instance.left_out,
        }


def _value_pair(one: GroupSummary, other: GroupSummary) -> dict[str, float]:
    ratio = other.median / one.median
    return {"median": one.median, "with_median": other.median, "ratio": ratio, "n": one.n}
