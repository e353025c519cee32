"""Hosts as plain values: rows for lists, and one host with its latest results."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Lower

from analysis.renamed_or_cloned import NamedRuns
from results.hosts.host_facets import hosts_of_latest_runs
from results.hosts.host_names import HostNames, host_names, named_like
from results.hosts.latest import LATEST_FIRST, LatestResult, latest_results
from results.hosts.runs import (
    MeasurementDetail,
    RunSummary,
    environment_of,
    latest_received,
    select_runs,
)
from store.models import Host, Run

COUNTED = Q(runs__status=Run.Status.READY, runs__hidden=False)

NO_DATE = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for the date of a run that has none: such hosts come last."""


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
    ssh_library: str | None
    openssh: str | None
    virtualization: str | None
    acceleration: str
    acceleration_evidence: str
    acceleration_advice: str
    acceleration_factor: float | None
    former_names: tuple[str, ...]
    alternating_names: tuple[NamedRuns, ...]
    """Names that came under one machine id in overlapping times: several machines, probably."""


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


def select_hosts() -> QuerySet[Host]:
    """Hosts that have a ready run, newest first."""
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


# Each host's runs by the index of the host: to group all runs by their hosts takes twice as long.
_READY_RUNS = Run.objects.filter(
    host=OuterRef("pk"), status=Run.Status.READY, hidden=False
).order_by()

SORT_FIELDS: Mapping[str, Any] = {
    "sort_name": Lower("name"),
    "sort_latest": Coalesce(
        Subquery(_READY_RUNS.values("host").annotate(of_it=Max("started_at")).values("of_it")),
        Value(NO_DATE),
    ),
    "sort_runs": Subquery(_READY_RUNS.values("host").annotate(of_it=Count("pk")).values("of_it")),
}
"""What hosts are sorted by besides their id; `sort_latest` is when the latest run started."""


def find_hosts(
    text: str, filters: Mapping[str, tuple[str, ...]], sort_field: str = "pk"
) -> QuerySet[Host]:
    """Hosts with a ready run, of which a name has this text and the latest run passes the filters.

    The filters are as in `selection.FILTERS`. They have the sort field alone, which is "pk" or
    one of `SORT_FIELDS`; what a list shows of a host comes from `summaries_of`.
    """
    hosts = Host.objects.filter(named_like(text), Exists(_READY_RUNS))
    if sort_field in SORT_FIELDS:
        hosts = hosts.alias(**{sort_field: SORT_FIELDS[sort_field]})
    return hosts.filter(pk__in=hosts_of_latest_runs(filters)) if filters else hosts


def summaries_of(hosts: Iterable[Host]) -> list[HostSummary]:
    """Rows for these hosts in their order."""
    wanted = [host.pk for host in hosts]
    found = {one.id: one for one in host_summaries(select_hosts().filter(pk__in=wanted))}
    return [found[pk] for pk in wanted if pk in found]


def host_summaries(hosts: Iterable[Host]) -> list[HostSummary]:
    """Rows for hosts selected by `select_hosts`, in a few queries whatever their number."""
    hosts = list(hosts)
    latest = {
        run.pk: run
        for run in Run.objects.filter(
            pk__in=[getattr(host, "latest_run", None) for host in hosts]
        ).select_related(
            "environment__cpu",
            "environment__os_version",
            "environment__openssl",
            "environment__ssh_library",
            "environment__openssh",
            "environment__virtualization",
        )
    }
    names = host_names(host.pk for host in hosts)
    return [
        _summary(host, latest.get(getattr(host, "latest_run", 0)), names.get(host.pk, HostNames()))
        for host in hosts
    ]


def _summary(host: Host, run: Run | None, names: HostNames) -> HostSummary:
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
        former_names=names.former,
        alternating_names=names.alternating,
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
