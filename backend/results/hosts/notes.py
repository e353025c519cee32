"""Notes at a date: all of them, and those that a host's history shows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from results.hosts.latest import LATEST_FIRST
from store.models import Environment, Note, Run
from store.models.dimension import DIMENSIONS

TAG_PREFIX = "tag:"


@dataclass(frozen=True)
class NoteQuery:
    """Which notes: of these hosts and runs, of a grouping or one group of it, at these times."""

    hosts: tuple[str, ...] = ()
    runs: tuple[UUID, ...] = ()
    group_by: str | None = None
    group: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def select_notes(query: NoteQuery) -> QuerySet[Note]:
    """The notes that pass, the latest first."""
    notes = Note.objects.select_related("host", "run", "run__host")
    if query.hosts:
        notes = notes.filter(Q(host__slug__in=query.hosts) | Q(run__host__slug__in=query.hosts))
    if query.runs:
        notes = notes.filter(run__run_id__in=query.runs)
    if query.group_by is not None:
        notes = notes.filter(group_by=query.group_by)
    if query.group is not None:
        notes = notes.filter(group=query.group)
    if query.since is not None:
        notes = notes.filter(at__gte=query.since)
    if query.until is not None:
        notes = notes.filter(at__lte=query.until)
    return notes.order_by("-at", "-id")


def notes_of_host(host_pk: int) -> list[Note]:
    """Those on the host, on its runs, and on the groups that its latest run belongs to."""
    about = Q(host=host_pk) | Q(run__host=host_pk, run__hidden=False)
    for group_by, keys in _groups_of(host_pk):
        about |= Q(group_by=group_by, group__in=list(keys))
    return list(Note.objects.filter(about).select_related("run", "host").order_by("at", "id"))


def _groups_of(host_pk: int) -> Iterable[tuple[str, set[str]]]:
    latest = Run.objects.filter(host=host_pk, status=Run.Status.READY, hidden=False)
    run = latest.order_by(*LATEST_FIRST).select_related("environment", "host").first()
    if run is None or run.environment is None:
        return
    environment = Environment.objects.select_related(*DIMENSIONS).get(pk=run.environment.pk)
    for name in DIMENSIONS:
        yield name, {getattr(environment, name).key}
    yield "acceleration", {run.acceleration}
    yield "host", {run.host.slug if run.host else ""}
    for key, value in run.tags.items():
        yield f"{TAG_PREFIX}{key}", {str(value)}
