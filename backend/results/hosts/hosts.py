"""Hosts as plain values: rows for lists, and one host with its latest results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery, prefetch_related_objects

from results.hosts.latest import LatestResult, latest_results
from results.hosts.runs import MeasurementDetail
from store.models import Host, Run, RunSpeedIndex
from store.models.host import HostQuerySet
from store.models.run import MEASURED_AT

ENVIRONMENT = ("cpu", "os_version", "openssl", "ssh_library", "openssh", "virtualization")


@dataclass(frozen=True)
class HostSummary:
    """A host with its latest environment and verdict; `runs` counts its ready runs.

    `speed_index`: of its latest run, by `speed_index_tool`: openssl, or
    ssh where that run has no baseline of openssl.
    """

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
    ssh_library: str | None
    openssh: str | None
    virtualization: str | None
    acceleration: str
    acceleration_evidence: str
    acceleration_advice: str
    acceleration_factor: float | None
    speed_index: float | None
    speed_index_tool: str | None
    former_names: list[str]
    twin: Host | None
    """Another host with its machine id: this machine under another name, or a clone."""


@dataclass(frozen=True)
class HostDetail:
    """A host with the facts of its latest environment and the latest value of every series."""

    summary: HostSummary
    environment: Mapping[str, Any] | None
    latest: tuple[LatestResult, ...]
    recent_runs: QuerySet[Run]

    @property
    def results(self) -> tuple[MeasurementDetail, ...]:
        """The latest value of every series, without the run it comes from."""
        return tuple(one.detail for one in self.latest)


def select_hosts() -> HostQuerySet:
    """Hosts that have a run that counts, newest first."""
    of_host = Run.objects.counted().filter(host=OuterRef("pk")).order_by().values("host")
    hosts = Host.objects.counted().annotate(
        run_count=Subquery(of_host.annotate(count=Count("pk")).values("count"))
    )
    environment = (f"latest_run__environment__{name}" for name in ENVIRONMENT)
    return hosts.select_related(*environment).order_by("-id")


def summaries_of(hosts: Sequence[int]) -> list[HostSummary]:
    """Rows for the hosts with these ids, in this order."""
    found = {one.id: one for one in host_summaries(select_hosts().filter(pk__in=hosts))}
    return [found[pk] for pk in hosts if pk in found]


def latest_runs_of(host_pks: Iterable[int]) -> QuerySet[Run]:
    """The latest runs of these hosts."""
    return Run.objects.filter(pk__in=Host.objects.filter(pk__in=host_pks).values("latest_run"))


def host_summaries(hosts: Iterable[Host]) -> list[HostSummary]:
    """Rows for hosts selected by `select_hosts`, in a few queries whatever their number."""
    hosts = list(hosts)
    prefetch_related_objects(hosts, "aliases")
    twins = Host.objects.twins_of(hosts)
    speeds = _speed_indices(host.latest_run_id for host in hosts if host.latest_run_id)
    return [
        _summary(host, twins.get(host.pk), speeds.get(host.latest_run_id or 0)) for host in hosts
    ]


def _speed_indices(runs: Iterable[int]) -> dict[int, RunSpeedIndex]:
    """Return run -> its speed index, of openssl rather than of ssh."""
    found = RunSpeedIndex.objects.filter(run_id__in=runs)
    return {one.run_id: one for one in found.order_by("-tool")}


def _summary(host: Host, twin: Host | None, speed: RunSpeedIndex | None) -> HostSummary:
    run = host.latest_run
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
        ssh_library=environment.library("ssh").label if environment else None,
        openssh=environment.openssh.label if environment else None,
        virtualization=environment.virtualization.label if environment else None,
        acceleration=run.acceleration if run else "unknown",
        acceleration_evidence=run.acceleration_evidence if run else "",
        acceleration_advice=run.acceleration_advice if run else "",
        acceleration_factor=run.acceleration_factor if run else None,
        speed_index=speed.index if speed else None,
        speed_index_tool=speed.tool if speed else None,
        former_names=host.former_names,
        twin=twin,
    )


def host_detail(host_id: int, *, tries: bool = False) -> HostDetail | None:
    """One host; None when there is none of this id or it has no run that counts.

    With the tries of its latest results if asked for.
    """
    host = select_hosts().filter(pk=host_id).first()
    if host is None:
        return None
    summary = host_summaries([host])[0]
    runs = Run.objects.listed().filter(host=host)
    latest = runs.filter(run_id=summary.last_run_id).first() if summary.last_run_id else None
    return HostDetail(
        summary=summary,
        environment=latest.document.environment if latest else None,
        latest=latest_results(host.pk, tries=tries),
        recent_runs=runs.order_by(MEASURED_AT.desc(), "-id")[:20],
    )
