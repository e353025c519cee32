"""A DRF nested serializer for run documents, as one would write it; it checks what the schema does.

Only for the bench: the floor that a compiled validator is measured against.
"""

import re
from typing import Any

from rest_framework import serializers

TOOLS = ("ssh", "openssl")
TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:[0-5]\d(\.\d+)?(Z|[+-]\d{2}:\d{2})")
TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,49}")
MOST_BYTES = 2**60
MOST_SECONDS = 10_000_000


def _text(most: int = 2000) -> serializers.CharField:
    return serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=most, trim_whitespace=False
    )


def _count() -> serializers.IntegerField:
    return serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=1_000_000
    )


def _seconds() -> serializers.FloatField:
    return serializers.FloatField(
        required=False, allow_null=True, min_value=0, max_value=MOST_SECONDS
    )


class _Sample(serializers.Serializer[Any]):
    bytes = serializers.IntegerField(min_value=1, max_value=MOST_BYTES)
    seconds = serializers.FloatField(min_value=0, max_value=MOST_SECONDS)
    setup_seconds = _seconds()
    client_cpu_seconds = _seconds()
    server_cpu_seconds = _seconds()
    foreign_cpu = _seconds()

    def validate_seconds(self, value: float) -> float:
        if value <= 0:
            raise serializers.ValidationError("A try takes time.")
        return value


class _Negotiated(serializers.Serializer[Any]):
    cipher = _text(100)
    mac = _text(100)
    kex = _text(100)


class _Target(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=("loopback", "remote"))
    name = _text(200)


class _Measurement(serializers.Serializer[Any]):
    tool = serializers.ChoiceField(choices=TOOLS)
    cipher = serializers.RegexField(r"^[a-z0-9][a-z0-9@._/+-]*$", max_length=100)
    operation = serializers.ChoiceField(choices=("encrypt", "decrypt"), required=False)
    block_size = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=2**30
    )
    threads = serializers.IntegerField(required=False, min_value=1, max_value=65536)
    mac = _text(100)
    compression = serializers.BooleanField(required=False)
    method = serializers.ChoiceField(choices=("pipeline", "steady"), required=False)
    pinned = serializers.BooleanField(required=False)
    acceleration = serializers.ChoiceField(choices=("default", "masked"), required=False)
    negotiated = _Negotiated(required=False, allow_null=True)
    target = _Target(required=False, allow_null=True)
    samples = serializers.ListField(child=_Sample(), min_length=1, max_length=100)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["tool"] == "openssl" and attrs.get("block_size") is None:
            raise serializers.ValidationError({"block_size": "This field is required."})
        return attrs


class _Cpu(serializers.Serializer[Any]):
    model = _text()
    vendor = _text()
    architecture = _text()
    family = _count()
    model_id = _count()
    stepping = _count()
    cores = _count()
    threads = _count()
    max_mhz = serializers.FloatField(
        required=False, allow_null=True, min_value=0, max_value=1_000_000
    )
    flags = serializers.ListField(
        child=serializers.CharField(max_length=100, allow_blank=True),
        required=False,
        allow_null=True,
        max_length=1000,
    )
    governor = _text()


class _System(serializers.Serializer[Any]):
    id = _text()
    name = _text()
    version = _text()
    kernel = _text()


class _Openssl(serializers.Serializer[Any]):
    version_text = _text()
    built_on = _text()
    platform = _text()
    options = _text()
    compiler = _text()
    cpu_settings = _text()


class _Openssh(serializers.Serializer[Any]):
    client = _text()
    server = _text()
    default_cipher = _text()


class _Environment(serializers.Serializer[Any]):
    cpu = _Cpu()
    virtualization = _text()
    memory_bytes = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=MOST_BYTES
    )
    os = _System()
    openssl = _Openssl()
    openssh = _Openssh()
    load_average = serializers.ListField(
        child=serializers.FloatField(min_value=0), required=False, allow_null=True, max_length=3
    )


class _Agent(serializers.Serializer[Any]):
    name = _text()
    version = _text()


class _Host(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200)
    machine_id = serializers.RegexField(r"^[0-9a-f]{64}$", allow_null=True, required=False)


class _Condition(serializers.Serializer[Any]):
    code = serializers.CharField(max_length=50)
    detail = _text(1000)


class _Skipped(serializers.Serializer[Any]):
    tool = serializers.ChoiceField(choices=TOOLS)
    cipher = serializers.CharField(max_length=100, allow_null=True)
    reason = serializers.CharField(max_length=1000, allow_blank=True)


class RunDocumentSerializer(serializers.Serializer[Any]):
    """A run document."""

    schema = serializers.ChoiceField(choices=("ciphermark/run/1",))
    run_id = serializers.UUIDField()
    agent = _Agent()
    started_at = serializers.CharField(max_length=40)
    finished_at = serializers.CharField(max_length=40)
    host = _Host()
    tags = serializers.DictField(
        child=serializers.CharField(max_length=200, allow_blank=True), required=False
    )
    environment = _Environment()
    conditions = serializers.ListField(child=_Condition(), required=False, max_length=200)
    measurements = serializers.ListField(child=_Measurement(), min_length=1, max_length=5000)
    skipped = serializers.ListField(child=_Skipped(), required=False, max_length=5000)

    def validate_started_at(self, value: str) -> str:
        """RFC 3339, as the schema asks."""
        return self._moment(value)

    def validate_finished_at(self, value: str) -> str:
        """RFC 3339, as the schema asks."""
        return self._moment(value)

    def _moment(self, value: str) -> str:
        if not TIME.fullmatch(value):
            raise serializers.ValidationError("This is no RFC 3339 time.")
        return str(serializers.DateTimeField().to_internal_value(value))

    def validate_tags(self, value: dict[str, str]) -> dict[str, str]:
        """At most 50 tags with sensible names."""
        if len(value) > 50 or not all(map(TAG.fullmatch, value)):
            raise serializers.ValidationError("There are too many tags, or bad names.")
        return value
