"""The latest result of every series of a host, with the run that it comes from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F

from runs.models import Measurement, Run, RunSpeedIndex
from runs.queries.runs import MeasurementDetail, measurement_details

LATEST_RUNS = 500
"""Runs that are looked through, at most: the latest. An older result is no latest one."""

LATEST_FIRST = (F("started_at").desc(nulls_last=True), "-id")
"""A run of unknown date is never the latest; of one moment the one stored later counts."""

SERIES_FIELDS = (
    "tool",
    "method",
    "acceleration",
    "operation",
    "threads",
    "block_size",
    "cipher",
    "mac",
    "compression",
    "pinned",
    "target_kind",
    "target_name",
)
"""What two measurements of one series have in common."""


# Two results are one only if they are the same object: their tries cannot be hashed.
@dataclass(frozen=True, eq=False)
class LatestResult:
    """One series' result, and of its run: id, time, OpenSSL release."""

    detail: MeasurementDetail
    run_id: UUID
    started_at: datetime | None
    openssl: str


def latest_results(host_id: int) -> tuple[LatestResult, ...]:
    """The latest result of every series that one of the host's latest 500 runs measured."""
    runs = Run.objects.filter(host_id=host_id, status=Run.Status.READY, hidden=False)
    latest_runs = runs.order_by(*LATEST_FIRST).values("pk")[:LATEST_RUNS]
    # Sorted as bare ids: the rows have their tries with them, which would fill the disk.
    latest = (
        Measurement.objects.filter(run_id__in=latest_runs, implausible=False)
        .order_by(*SERIES_FIELDS, F("run__started_at").desc(nulls_last=True), "-run_id")
        .distinct(*SERIES_FIELDS)
        .values("pk")
    )
    return results_of(Measurement.objects.filter(pk__in=latest).order_by(*SERIES_FIELDS))


def results_of(measurements: Iterable[Measurement]) -> tuple[LatestResult, ...]:
    """Rows as results with their runs, in two queries whatever their number."""
    rows: Sequence[Measurement] = list(measurements)
    run_pks = {row.run_id for row in rows}
    runs = Run.objects.select_related("environment__openssl").in_bulk(run_pks)
    indices: dict[int, dict[str, float]] = {}
    for index in RunSpeedIndex.objects.filter(run_id__in=run_pks, profile__active=True):
        indices.setdefault(index.run_id, {})[index.tool] = index.index
    return tuple(_result(row, runs[row.run_id], indices.get(row.run_id, {})) for row in rows)


def _result(row: Measurement, run: Run, indices: dict[str, float]) -> LatestResult:
    (detail,) = measurement_details([row], indices)
    environment = run.environment
    return LatestResult(
        detail, run.run_id, run.started_at, environment.openssl.label if environment else ""
    )
