"""From a run document's JSON to its typed form."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from documents.types import (
    Acceleration,
    HostIdentity,
    Measurement,
    Method,
    Negotiated,
    Operation,
    RunDocument,
    Sample,
    Series,
    TargetKind,
)

SCHEMA = "ciphermark/run/1"

KNOWN_SERIES = 4096
"""Series kept in memory: runs have nearly all of theirs in common."""

TIMES_OF_IMPORT = "import"
"""The value of `times_of` in a document made from a text that does not say when it was measured:
its times are those of the import."""


class DocumentRejected(ValueError):
    """The document has the right shape but cannot be true; the message says why, for people."""


def _time(text: str | None, field: str) -> datetime | None:
    """A moment in UTC; None where a source that is no agent states none."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise DocumentRejected(f"{field} is {text!r}, which is no date and time") from None


def _sample(raw: Mapping[str, Any]) -> Sample:
    said = raw.get
    return Sample(
        said("bytes"),
        said("seconds"),
        said("bytes_per_second"),
        said("client_cpu_seconds"),
        said("server_cpu_seconds"),
        said("implausible"),
    )


@lru_cache(maxsize=KNOWN_SERIES)
def _ssh_series(
    cipher: str,
    mac: str | None,
    compression: bool,
    method: Method,
    pinned: bool,
    target_kind: TargetKind,
    target_name: str | None,
    acceleration: Acceleration,
) -> Series:
    return Series(
        tool="ssh",
        cipher=cipher,
        mac=mac,
        compression=compression,
        method=method,
        pinned=pinned,
        target_kind=target_kind,
        target_name=target_name,
        acceleration=acceleration,
    )


@lru_cache(maxsize=KNOWN_SERIES)
def _openssl_series(
    cipher: str, operation: Operation, block_size: int, threads: int, acceleration: Acceleration
) -> Series:
    # JSON has one kind of number: 16384.0 is the same block size.
    return Series(
        tool="openssl",
        cipher=cipher,
        operation=operation,
        block_size=int(block_size),
        threads=int(threads),
        acceleration=acceleration,
    )


def _series(raw: Mapping[str, Any]) -> Series:
    said = raw.get
    acceleration = said("acceleration", "default")
    if raw["tool"] == "openssl":
        return _openssl_series(
            raw["cipher"],
            said("operation", "encrypt"),
            raw["block_size"],
            said("threads", 1),
            acceleration,
        )
    target = said("target") or {}
    return _ssh_series(
        raw["cipher"],
        said("mac"),
        said("compression", False),
        said("method", "pipeline"),
        said("pinned", False),
        target.get("kind", "loopback"),
        target.get("name"),
        acceleration,
    )


@lru_cache(maxsize=KNOWN_SERIES)
def _negotiated(cipher: str | None, mac: str | None, kex: str | None) -> Negotiated:
    return Negotiated(cipher, mac, kex)


def _measurement(raw: Mapping[str, Any], by_agent: bool) -> Measurement:
    agreed = raw.get("negotiated") or {}
    return Measurement(
        _series(raw),
        tuple(map(_sample, raw["samples"])),
        _negotiated(agreed.get("cipher"), agreed.get("mac"), agreed.get("kex")),
        # Earlier agents took off the CPU seconds of an empty connection, not of a short transfer.
        by_agent and "reference_bytes" not in raw,
    )


def _check_measurements(measurements: tuple[Measurement, ...]) -> None:
    seen: dict[Series, int] = {}
    for position, measurement in enumerate(measurements):
        series, negotiated = measurement.series, measurement.negotiated.cipher
        if negotiated is not None and negotiated.lower() != series.cipher:
            raise DocumentRejected(
                f"measurements.{position} asked for {series.cipher} "
                f"but the connection negotiated {negotiated}"
            )
        if series in seen:
            raise DocumentRejected(
                f"measurements.{position} repeats the series of measurements.{seen[series]} "
                f"({series.tool} {series.cipher})"
            )
        seen[series] = position


def parse_run_document(raw: Mapping[str, Any]) -> RunDocument:
    """The typed form of a document that has passed the schema.

    Raises `DocumentRejected` where it cannot be true: it ends before it starts, holds one series
    twice, or measured another cipher than the one asked for.
    """
    dated = raw.get("times_of") != TIMES_OF_IMPORT
    started_at = _time(raw["started_at"] if dated else None, "started_at")
    finished_at = _time(raw["finished_at"] if dated else None, "finished_at")
    if started_at and finished_at and finished_at < started_at:
        raise DocumentRejected("finished_at is before started_at")
    name = raw["host"]["name"].strip()
    if not name:
        raise DocumentRejected("host.name is blank")
    by_agent = "settings" in raw  # of our own agent: what else sends documents states none
    measurements = tuple(_measurement(one, by_agent) for one in raw["measurements"])
    _check_measurements(measurements)
    agent = raw["agent"]
    return RunDocument(
        run_id=UUID(raw["run_id"]),
        agent_name=agent.get("name") or "",
        agent_version=agent.get("version") or "",
        started_at=started_at,
        finished_at=finished_at,
        host=HostIdentity(name, raw["host"].get("machine_id")),
        tags=raw.get("tags", {}),
        environment=raw["environment"],
        conditions=tuple(raw.get("conditions", ())),
        measurements=measurements,
        skipped=tuple(raw.get("skipped", ())),
    )
