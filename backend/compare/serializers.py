"""OpenAPI description of a comparison, whose JSON `cipherspeed.groups.answer` builds."""

from typing import Any

from rest_framework import serializers

from runs.serializers import NULLABLE


class GroupSummarySerializer(serializers.Serializer[Any]):
    """Summarise a cipher in a group, in the comparison's unit."""

    median = serializers.FloatField()
    q1 = serializers.FloatField()
    q3 = serializers.FloatField()
    min = serializers.FloatField()
    max = serializers.FloatField()
    n = serializers.IntegerField()


class SplitValueSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # as DRF itself has it


class RatioSerializer(serializers.Serializer[Any]):
    """Compare with the reference; the ratio is within `low` and `high` at a probability of 95 %."""

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


class GroupSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # as above
    hosts = serializers.IntegerField()
    values = serializers.DictField(child=GroupSummarySerializer())
    uncertainty = serializers.DictField(
        child=serializers.FloatField(),
        required=False,
        help_text="Of normalised values, by cipher: a factor; absent where it is unknown.",
    )
    single_baseline = serializers.DictField(
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
    split = SplitValueSerializer(required=False, help_text="With `split_by`.")
    relative = serializers.DictField(
        child=RatioSerializer(),
        required=False,
        help_text="With `relative_to`, by cipher; absent in the baseline itself.",
    )


class ExcludedSerializer(serializers.Serializer[Any]):
    """Count excluded hosts."""

    no_baseline = serializers.IntegerField()
    no_block_size = serializers.IntegerField(
        required=False, help_text="openssl: with these ciphers, and not at this block size."
    )


class RelativeToSerializer(serializers.Serializer[Any]):
    """Name the reference of the ratios."""

    key = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]  # as DRF itself has it
        help_text="Null where it has no figure under these filters.", **NULLABLE
    )
    is_host = serializers.BooleanField()


class ComparisonSerializer(serializers.Serializer[Any]):
    """Serialise a comparison of groups, without empty members."""

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
