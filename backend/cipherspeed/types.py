from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

Tool = Literal["ssh", "openssl"]
Operation = Literal["encrypt", "decrypt"]
Method = Literal["pipeline", "steady"]
TargetKind = Literal["loopback", "remote"]
Acceleration = Literal["default", "masked"]


# Frequent objects are named tuples, which are several times as fast as frozen dataclasses.
class Sample(NamedTuple):
    """Store one try of a series, such as one ssh transfer.

    The agent reports `bytes` and `seconds`. Imported and published tries can have only
    `bytes_per_second`. CPU seconds do not include connection setup.
    """

    bytes: int | None = None
    seconds: float | None = None
    bytes_per_second: float | None = None
    client_cpu_seconds: float | None = None
    server_cpu_seconds: float | None = None
    implausible: str | None = None
    """Reason why the rate is implausible, or None."""


class Series(NamedTuple):
    """Identify a configuration: a tool, a cipher and all settings.

    Settings that do not apply to the tool have the default value.
    """

    tool: Tool
    cipher: str
    operation: Operation = "encrypt"
    block_size: int | None = None
    threads: int = 1
    mac: str | None = None
    compression: bool = False
    method: Method | None = None
    pinned: bool = False
    target_kind: TargetKind | None = None
    target_name: str | None = None
    acceleration: Acceleration = "default"


class Negotiated(NamedTuple):
    cipher: str | None = None
    mac: str | None = None
    kex: str | None = None


class Measurement(NamedTuple):
    series: Series
    samples: tuple[Sample, ...]
    negotiated: Negotiated = Negotiated()


@dataclass(frozen=True)
class HostIdentity:
    """Identify a host. `machine_id`: SHA-256 of the operating system's machine ID, in hex."""

    name: str
    machine_id: str | None = None


@dataclass(frozen=True)
class RunDocument:
    """Store a parsed run document.

    `started_at`, `finished_at`: None if an imported or published result has no date.
    """

    run_id: UUID
    agent_name: str
    agent_version: str
    started_at: datetime | None
    finished_at: datetime | None
    host: HostIdentity
    tags: Mapping[str, str]
    environment: Mapping[str, Any]
    conditions: tuple[Mapping[str, Any], ...]
    measurements: tuple[Measurement, ...]
    skipped: tuple[Mapping[str, Any], ...]
