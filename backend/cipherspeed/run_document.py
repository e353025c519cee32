from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from cipherspeed.types import (
    HostIdentity,
    Measurement,
    Negotiated,
    RunDocument,
    Sample,
    Series,
)

SCHEMA = "ciphermark/run/1"

TIMES_OF_IMPORT = "import"
"""Value of `times_of` if the dates in the document are dates of the import, not of the run."""


class DocumentRejected(ValueError):
    """Report a document that matches the schema but contradicts itself. Users see the message."""


def _time(text: str | None, field: str) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise DocumentRejected(f"{field} must be a date and time, not {text!r}") from None


def _series(raw: Mapping[str, Any]) -> Series:
    said = raw.get
    acceleration = said("acceleration", "default")
    if raw["tool"] == "openssl":
        return Series(
            tool="openssl",
            cipher=raw["cipher"],
            operation=said("operation", "encrypt"),
            block_size=int(raw["block_size"]),  # JSON does not distinguish 16384.0
            threads=int(said("threads", 1)),
            acceleration=acceleration,
        )
    target = said("target") or {}
    return Series(
        tool="ssh",
        cipher=raw["cipher"],
        mac=said("mac"),
        compression=said("compression", False),
        method=said("method", "pipeline"),
        pinned=said("pinned", False),
        target_kind=target.get("kind", "loopback"),
        target_name=target.get("name"),
        acceleration=acceleration,
    )


def _measurement(raw: Mapping[str, Any]) -> Measurement:
    agreed = raw.get("negotiated") or {}
    return Measurement(
        _series(raw),
        tuple(Sample(*map(sample.get, Sample._fields)) for sample in raw["samples"]),
        Negotiated(*map(agreed.get, Negotiated._fields)),
    )


def _check_measurements(measurements: tuple[Measurement, ...]) -> None:
    seen: dict[Series, int] = {}
    for position, measurement in enumerate(measurements):
        series, negotiated = measurement.series, measurement.negotiated.cipher
        if negotiated is not None and negotiated.lower() != series.cipher:
            raise DocumentRejected(
                f"measurements.{position} requested {series.cipher}, "
                f"but the connection negotiated {negotiated}"
            )
        if series in seen:
            raise DocumentRejected(
                f"measurements.{position} repeats the series of measurements.{seen[series]} "
                f"({series.tool} {series.cipher})"
            )
        seen[series] = position


def parse_run_document(raw: Mapping[str, Any]) -> RunDocument:
    """Convert JSON that matches the schema of run documents.

    Raise `DocumentRejected` for contradictions. Examples: the run ends before the start, a series
    occurs twice, or ssh negotiated another cipher than the requested cipher.
    """
    dated = raw.get("times_of") != TIMES_OF_IMPORT
    started_at = _time(raw["started_at"] if dated else None, "started_at")
    finished_at = _time(raw["finished_at"] if dated else None, "finished_at")
    if started_at and finished_at and finished_at < started_at:
        raise DocumentRejected(
            "finished_at is before started_at; check the host's clock and measure again"
        )
    name = raw["host"]["name"].strip()
    if not name:
        raise DocumentRejected("host.name is blank")
    measurements = tuple(map(_measurement, raw["measurements"]))
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
