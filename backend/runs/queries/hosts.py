"""Hosts as plain values: rows for lists, and one host with its latest results."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery

from runs.models import Host, Measurement, Run, RunSpeedIndex
from runs.queries.runs import (
    MeasurementDetail,
    RunSummary,
    environment_of,
    measurement_details,
    select_runs,
    summaries,
)

COUNTED = Q(runs__status=Run.Status.READY, runs__hidden=False)

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


@dataclass(frozen=True)
class HostSummary:
    """A host with its latest environment and verdict; `runs` counts its ready runs."""

    id: int
    host: str
    name: str
    published: bool
    runs: int
    last_run_id: UUID | None
    last_run_at: datetime | None
    cpu: str | None
    os: str | None
    openssl: str | None
    openssh: str | None
    virtualization: str | None
    acceleration: str
    acceleration_evidence: str
    acceleration_advice: str
    acceleration_factor: float | None


@dataclass(frozen=True)
class HostDetail:
    """A host with the facts of its latest environment and the latest value of every series."""

    summary: HostSummary
    environment: Mapping[str, Any] | None
    results: tuple[MeasurementDetail, ...]
    recent_runs: tuple[RunSummary, ...]


def select_hosts() -> QuerySet[Host]:
    """Hosts that have a ready run, the latest first."""
    latest = (
        Run.objects.filter(host=OuterRef("pk"), status=Run.Status.READY, hidden=False)
        .order_by(*LATEST_FIRST)
        .values("pk")[:1]
    )
    return (
        Host.objects.annotate(run_count=Count("runs", filter=COUNTED), latest_run=Subquery(latest))
        .filter(run_count__gt=0)
        .order_by("-id")
    )


def host_summaries(hosts: Iterable[Host]) -> list[HostSummary]:
    """Rows for hosts selected by `select_hosts`, in two queries whatever their number."""
    hosts = list(hosts)
    latest = {
        run.pk: run
        for run in Run.objects.filter(
            pk__in=[getattr(host, "latest_run", None) for host in hosts]
        ).select_related(
            "environment__cpu",
            "environment__os_version",
            "environment__openssl",
            "environment__openssh",
            "environment__virtualization",
        )
    }
    return [_summary(host, latest.get(getattr(host, "latest_run", 0))) for host in hosts]


def _summary(host: Host, run: Run | None) -> HostSummary:
    environment = run.environment if run else None
    return HostSummary(
        id=host.pk,
        host=host.slug,
        name=host.name,
        published=host.published,
        runs=getattr(host, "run_count", 0),
        last_run_id=run.run_id if run else None,
        last_run_at=run.started_at if run else None,
        cpu=environment.cpu.label if environment else None,
        os=environment.os_version.label if environment else None,
        openssl=environment.openssl.label if environment else None,
        openssh=environment.openssh.label if environment else None,
        virtualization=environment.virtualization.label if environment else None,
        acceleration=run.acceleration if run else "unknown",
        acceleration_evidence=run.acceleration_evidence if run else "",
        acceleration_advice=run.acceleration_advice if run else "",
        acceleration_factor=run.acceleration_factor if run else None,
    )


def _latest_results(host: Host) -> tuple[MeasurementDetail, ...]:
    """The latest run's row of every series that the host ever measured."""
    rows = (
        Measurement.objects.filter(
            run__host=host, run__status=Run.Status.READY, run__hidden=False, implausible=False
        )
        .order_by(
            *SERIES_FIELDS,
            F("run__started_at").desc(nulls_last=True),
            "-run__id",
        )
        .distinct(*SERIES_FIELDS)
    )
    by_run: dict[int, list[Measurement]] = {}
    for row in rows:
        by_run.setdefault(row.run_id, []).append(row)
    indices: dict[int, dict[str, float]] = {}
    for index in RunSpeedIndex.objects.filter(run_id__in=by_run, profile__active=True):
        indices.setdefault(index.run_id, {})[index.tool] = index.index
    return tuple(
        detail
        for run_id, of_run in by_run.items()
        for detail in measurement_details(of_run, indices.get(run_id, {}))
    )


def host_detail(host_id: int) -> HostDetail | None:
    """One host; None when there is none of this id or it has no run that counts."""
    host = select_hosts().filter(pk=host_id).first()
    if host is None:
        return None
    summary = host_summaries([host])[0]
    runs = select_runs().filter(host=host)
    latest = runs.filter(run_id=summary.last_run_id).first() if summary.last_run_id else None
    return HostDetail(
        summary=summary,
        environment=environment_of(latest) if latest else None,
        results=_latest_results(host),
        recent_runs=tuple(summaries(runs[:20])),
    )
