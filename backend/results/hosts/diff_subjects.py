"""What a difference is made between: a run, or a host with its latest results."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from results.hosts.latest import LatestResult, latest_results, results_of
from store.models import Host, Run

CHOICES = 50
"""Runs or hosts that are offered to compare with, at most: the latest."""


@dataclass(frozen=True)
class Side:
    """One side of a difference.

    `key` is the id in its address; `run_id` the run whose environment stands for the side: the
    run itself, or the host's latest. `doubtful`: the runs behind its results that state conditions.
    """

    key: str
    name: str
    host_id: int | None
    run_id: UUID
    started_at: datetime | None
    status: str
    environment: Mapping[str, Any]
    results: tuple[LatestResult, ...]
    doubtful: tuple[Run, ...]


def run_side(run_id: UUID) -> Side | None:
    """A run that is not hidden, with its plausible results; None when there is none."""
    run = Run.objects.listed().filter(run_id=run_id).first()
    if run is None:
        return None
    results = results_of(run.measurements.filter(median__isnull=False))
    return Side(
        key=str(run.run_id),
        name=run.name,
        host_id=run.host_id,
        run_id=run.run_id,
        started_at=run.started_at,
        status=run.status,
        environment=run.document.environment,
        results=results,
        doubtful=(run,) if run.conditions else (),
    )


def host_side(host_id: int) -> Side | None:
    """A host with its latest results and the environment of its latest run; None: no such."""
    counted = Run.objects.filter(host_id=host_id, status=Run.Status.READY, hidden=False)
    latest = counted.select_related("host", "document").latest_first().first()
    if latest is None:
        return None
    results = latest_results(host_id)
    behind = {latest.run_id, *(one.run_id for one in results)}
    return Side(
        key=str(host_id),
        name=latest.name,
        host_id=host_id,
        run_id=latest.run_id,
        started_at=latest.started_at,
        status=latest.status,
        environment=latest.document.environment,
        results=results,
        doubtful=tuple(counted.filter(run_id__in=behind).exclude(conditions=[]).order_by("-id")),
    )


def runs_beside(run: Run, named: str) -> QuerySet[Run]:
    """Runs to compare one with: of its own host or, where a name is given, of hosts so named."""
    ready = Run.objects.listed().filter(status=Run.Status.READY).exclude(pk=run.pk)
    hosts = Host.objects.named_like(named) if named else [run.host_id]
    return ready.filter(host__in=hosts)[:CHOICES]


def hosts_beside(host: Host, named: str) -> QuerySet[Host]:
    """Hosts to compare one with: those whose name contains `named`, the latest added first."""
    return Host.objects.listed().exclude(pk=host.pk).named_like(named)[:CHOICES]
