"""Hosts as plain values: rows for lists, and one host with its latest results."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from runs.models import Host, Run
from runs.queries.latest import LATEST_FIRST, LatestResult, latest_results
from runs.queries.runs import (
    MeasurementDetail,
    RunSummary,
    environment_of,
    latest_received,
    run_filter,
    select_runs,
)

COUNTED = Q(runs__status=Run.Status.READY, runs__hidden=False)


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
    latest: tuple[LatestResult, ...]
    recent_runs: tuple[RunSummary, ...]

    @property
    def results(self) -> tuple[MeasurementDetail, ...]:
        """The latest value of every series, without the run it comes from."""
        return tuple(one.detail for one in self.latest)


def select_hosts(
    text: str = "", filters: Mapping[str, tuple[str, ...]] | None = None
) -> QuerySet[Host]:
    """Hosts that have a ready run, the one added last first.

    Those alone whose name has this text and whose latest run passes the filters
    (`selection.FILTERS`).
    """
    latest = (
        Run.objects.filter(host=OuterRef("pk"), status=Run.Status.READY, hidden=False)
        .order_by(*LATEST_FIRST)
        .values("pk")[:1]
    )
    hosts = (
        Host.objects.annotate(run_count=Count("runs", filter=COUNTED), latest_run=Subquery(latest))
        .filter(run_count__gt=0)
        .order_by("-id")
    )
    if text:
        hosts = hosts.filter(name__icontains=text)
    return hosts.filter(pk__in=_with_latest_run(filters)) if filters else hosts


def _with_latest_run(filters: Mapping[str, tuple[str, ...]]) -> QuerySet[Run, Any]:
    """The ids of the hosts whose latest run passes the filters."""
    ready = Run.objects.filter(status=Run.Status.READY, hidden=False)
    latest = ready.order_by("host_id", *LATEST_FIRST).distinct("host_id").values("pk")
    runs = Run.objects.filter(pk__in=latest)
    for name, values in filters.items():
        runs = runs.filter(run_filter(name, values))
    return runs.values("host_id")


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
        latest=latest_results(host.pk),
        recent_runs=tuple(latest_received(Run.objects.filter(host=host, hidden=False), 20)),
    )
