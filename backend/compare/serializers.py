"""Describe the JSON of comparisons in the OpenAPI schema.

These serializers do not create the JSON: `cipherspeed.groups.answer` does.
"""

from typing import Any

from rest_framework import serializers

from runs.serializers import NULLABLE


class GroupSummarySerializer(serializers.Serializer[Any]):
    """Summarise the results of a cipher in a group, in the `unit` of the comparison."""

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
    """Describe a ratio to the reference. `low` and `high` limit the 95 % confidence interval."""

    ratio = serializers.FloatField()
    low = serializers.FloatField(help_text="Null if there are too few hosts.", **NULLABLE)
    high = serializers.FloatField(**NULLABLE)
    n = serializers.IntegerField()
    beyond_noise = serializers.BooleanField(
        help_text="True if 1 is outside the interval; null without an interval.", **NULLABLE
    )
    tool_changed = serializers.BooleanField(
        required=False, help_text=("True if `openssl speed` itself changed between the two.")
    )


class GroupSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # as above
    hosts = serializers.IntegerField()
    values = serializers.DictField(child=GroupSummarySerializer())
    uncertainty = serializers.DictField(
        child=serializers.FloatField(),
        required=False,
        help_text="Uncertainty factor of normalised values by cipher; absent if unknown.",
    )
    single_baseline = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text=("By cipher: baselines that are the only one measured on some hosts."),
    )
    doubtful = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text=("By cipher: low-confidence hosts; absent above five hosts."),
    )
    split = SplitValueSerializer(required=False, help_text="Value of `split_by`.")
    relative = serializers.DictField(
        child=RatioSerializer(),
        required=False,
        help_text="By cipher: ratio to `relative_to`; absent in the reference itself.",
    )


class ExcludedSerializer(serializers.Serializer[Any]):
    """Count the hosts that are excluded from the comparison, by reason."""

    no_baseline = serializers.IntegerField()
    no_block_size = serializers.IntegerField(
        required=False,
        help_text="Number of hosts with results only at other block sizes (openssl).",
    )


class RelativeToSerializer(serializers.Serializer[Any]):
    """Identify the reference: the group or host that all ratios are relative to."""

    key = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]  # as DRF itself has it
        help_text="Null if it has no value under these filters.", **NULLABLE
    )
    is_host = serializers.BooleanField()


class ComparisonSerializer(serializers.Serializer[Any]):
    """Describe a comparison of groups. Optional members are absent if they have no value."""

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
    matched = serializers.BooleanField(required=False, help_text="Only matched hosts.")
