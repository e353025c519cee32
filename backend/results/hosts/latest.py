"""The latest result of every series of a host, with the run that it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from results.hosts.runs import MeasurementDetail, measurement_details
from store.models import Host, Measurement, Run, RunDocument, RunSpeedIndex
from store.models.run import MEASURED_AT

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
    """One series' result, and of its run: id, time, its library's release, what disturbed it."""

    detail: MeasurementDetail
    run_id: UUID
    started_at: datetime | None
    openssl: str
    conditions: tuple[Mapping[str, Any], ...]


def latest_results(host_id: int, *, tries: bool = False) -> tuple[LatestResult, ...]:
    """The latest result of every series that the host's runs measured; its tries if asked for."""
    latest = (
        Measurement.objects.filter(
            run__host_id=host_id,
            run__status=Run.Status.READY,
            run__hidden=False,
            median__isnull=False,
        )
        .order_by("series_id", F("run__started_at").desc(nulls_last=True), "-run_id")
        .distinct("series_id")
        .values("run_id", "series_id")
    )
    return results_of(Measurement.objects.filter(pk__in=latest), tries=tries)


def results_of(
    measurements: QuerySet[Measurement], *, tries: bool = False
) -> tuple[LatestResult, ...]:
    """Rows as results with their runs, in three queries whatever their number.

    Tries are in the runs' documents, which may be large.
    """
    order = (f"series__{name}" for name in SERIES_FIELDS)
    rows = list(measurements.select_related("series", "negotiated").order_by(*order))
    run_pks = {row.run_id for row in rows}
    runs = Run.objects.select_related("environment__openssl", "environment__ssh_library").in_bulk(
        run_pks
    )
    stored = RunDocument.objects.in_bulk(run_pks) if tries else {}
    documents = {pk: document.parsed for pk, document in stored.items()}
    indices: dict[int, dict[str, float]] = {}
    for index in RunSpeedIndex.objects.filter(run_id__in=run_pks):
        indices.setdefault(index.run_id, {})[index.tool] = index.index
    return tuple(
        _result(row, runs[row.run_id], indices.get(row.run_id, {}), documents.get(row.run_id))
        for row in rows
    )


def _result(
    row: Measurement, run: Run, indices: dict[str, float], document: Mapping[str, Any] | None
) -> LatestResult:
    (detail,) = measurement_details([row], indices, document)
    environment = run.environment
    return LatestResult(
        replace(detail, disturbed=bool(run.conditions)),
        run.run_id,
        run.started_at,
        environment.library(detail.tool).label if environment else "",
        tuple(run.conditions),
    )


def recent_runs(host: Host) -> QuerySet[Run]:
    """Return the runs of a host that were measured last."""
    return Run.objects.listed().filter(host=host).order_by(MEASURED_AT.desc(), "-pk")[:20]
