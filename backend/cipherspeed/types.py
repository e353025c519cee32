"""Define the typed form of a run document.

Frequent parts are named tuples, which are several times as fast as frozen dataclasses.
"""

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


class Sample(NamedTuple):
    """Represent one try.

    An agent's try has `bytes` and `seconds`. Imported and published results that were printed
    as rates have only `bytes_per_second`. CPU seconds are those for exactly these bytes, None
    if not measured.
    """

    bytes: int | None = None
    seconds: float | None = None
    bytes_per_second: float | None = None
    client_cpu_seconds: float | None = None
    server_cpu_seconds: float | None = None
    implausible: str | None = None
    """Reason why an imported result is implausible."""


class Series(NamedTuple):
    """Identify a configuration within a run; measurements of the same series are comparable.

    Fields of the other tool have their defaults.
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
    """Represent the negotiated algorithms from the ssh client's log; None if missing."""

    cipher: str | None = None
    mac: str | None = None
    kex: str | None = None


class Measurement(NamedTuple):
    series: Series
    samples: tuple[Sample, ...]
    negotiated: Negotiated = Negotiated()


@dataclass(frozen=True)
class HostIdentity:
    """Identify the host in the document; `machine_id` is a SHA-256 or None."""

    name: str
    machine_id: str | None = None


@dataclass(frozen=True)
class RunDocument:
    """Represent one execution of the agent on one host in one environment.

    Imported and published results may lack times.
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
