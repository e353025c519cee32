"""Runs as plain values: rows for lists, and one run with everything that is known of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, OrderBy, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from documents.types import Series
from store.models import Measurement, Run, RunSpeedIndex
from store.models.run import MEASURED_AT


def shown_runs() -> QuerySet[Run]:
    return Run.objects.filter(hidden=False)


def hidden_runs() -> QuerySet[Run]:
    """Return runs that an editor has hidden, with their hosts.

    A page takes them by primary key, so only as many are read as it shows.
    """
    return Run.objects.filter(hidden=True).select_related("host")


@dataclass(frozen=True)
class RunSummary:
    """One row of a list. Host and environment are None until the run has been processed."""

    run_id: UUID
    status: str
    rejection: str
    source: str
    host_id: int | None
    host: str | None
    host_name: str
    started_at: datetime | None
    finished_at: datetime | None
    received_at: datetime
    cpu: str | None
    os: str | None
    openssl: str | None
    ssh_library: str | None
    openssh: str | None
    acceleration: str
    agent: str
    measurement_count: int
    conditions: tuple[Mapping[str, Any], ...]
    tags: Mapping[str, str]


@dataclass(frozen=True)
class MeasurementDetail:
    """One series of a run with its statistics; rates in bytes per second.

    `normalised` is None where the run has no baseline of this tool. `mac` was asked for,
    `negotiated_mac` was agreed; empty texts are unknown or do not apply. `disturbed` is told
    where results of several runs stand together; a run's own page says it once for all.
    """

    tool: str
    cipher: str
    operation: str
    block_size: int | None
    threads: int
    mac: str
    negotiated_mac: str
    negotiated_kex: str
    compression: bool
    method: str
    pinned: bool
    target_kind: str
    target_name: str
    acceleration: str
    samples: tuple[Mapping[str, Any], ...]
    """The tries, where they were asked for."""
    n: int
    median: float | None
    minimum: float | None
    maximum: float | None
    spread: float | None
    noisy: bool
    implausible: bool
    normalised: float | None
    cpu_seconds_per_gb: float | None
    cpu_seconds_per_gb_spread: float | None
    try_seconds: float | None
    disturbed: bool = False

    @property
    def doubtful(self) -> bool:
        """Noisy, or of a run that states what disturbed it (`results.analytics.tables`)."""
        return self.noisy or self.disturbed


@dataclass(frozen=True)
class RunDetail:
    """One run with all that was derived from its document."""

    summary: RunSummary
    environment: Mapping[str, Any]
    skipped: tuple[Mapping[str, Any], ...]
    provenance: Mapping[str, Any]
    text_format: str
    """Of an imported run: the format of the text it was read from; else empty."""
    import_id: UUID | None
    parser_version: int | None
    acceleration_evidence: str
    acceleration_advice: str
    acceleration_factor: float | None
    """How many times faster AES runs than without its instructions; None where not known."""
    speed_indices: tuple[RunSpeedIndex, ...]
    measurements: tuple[MeasurementDetail, ...]


MEASURED = Coalesce(
    Subquery(
        Measurement.objects.filter(run=OuterRef("pk"))
        .values("run")
        .annotate(measured=Count("series"))
        .values("measured")
    ),
    0,
)
"""The measurements of a run, counted for the rows of a page alone."""


def select_runs() -> QuerySet[Run]:
    """Runs that are not hidden with what their rows in lists tell, the latest received first."""
    runs = shown_runs().select_related(
        "host",
        "environment__cpu",
        "environment__os_version",
        "environment__openssl",
        "environment__ssh_library",
        "environment__openssh",
    )
    return runs.annotate(measurement_count=MEASURED).order_by("-id")


def summaries(runs: Iterable[Run]) -> list[RunSummary]:
    """Rows for runs selected by `select_runs`."""
    return [_summary(run) for run in runs]


def newest_received(runs: QuerySet[Run]) -> UUID | None:
    """The id of the run of these that arrived last."""
    return runs.order_by("-id").values_list("run_id", flat=True).first()


def latest_received(runs: QuerySet[Run], most: int) -> list[RunSummary]:
    """Rows for the latest received of these runs."""
    return _first(runs, most, "-id")


def latest_measured(runs: QuerySet[Run], most: int) -> list[RunSummary]:
    """Rows for those of these runs that were measured last."""
    return _first(runs, most, MEASURED_AT.desc(), "-id")


def _first(runs: QuerySet[Run], most: int, *order: OrderBy | str) -> list[RunSummary]:
    """Chosen before their measurements are counted: the database would else count those of all."""
    chosen = list(runs.order_by(*order).values_list("pk", flat=True)[:most])
    return summaries(select_runs().filter(pk__in=chosen).order_by(*order))


def _summary(run: Run) -> RunSummary:
    environment = run.environment
    return RunSummary(
        run_id=run.run_id,
        status=run.status,
        rejection=run.rejection,
        source=run.source,
        host_id=run.host_id,
        host=run.host.slug if run.host else None,
        host_name=run.host.name if run.host else run.host_name,
        started_at=run.started_at,
        finished_at=run.finished_at,
        received_at=run.received_at,
        cpu=environment.cpu.label if environment else None,
        os=environment.os_version.label if environment else None,
        openssl=environment.openssl.label if environment else None,
        ssh_library=environment.library("ssh").label if environment else None,
        openssh=environment.openssh.label if environment else None,
        acceleration=run.acceleration,
        agent=f"{run.agent_name} {run.agent_version}".strip(),
        measurement_count=getattr(run, "measurement_count", 0),
        conditions=tuple(run.conditions),
        tags=run.tags,
    )


_OF_THE_ROW = (
    "n",
    "noisy",
    "implausible",
    "median",
    "minimum",
    "maximum",
    "spread",
    "cpu_seconds_per_gb",
    "cpu_seconds_per_gb_spread",
    "try_seconds",
)


def measurement_details(
    rows: Iterable[Measurement],
    indices: Mapping[str, float],
    document: Mapping[str, Any] | None = None,
) -> tuple[MeasurementDetail, ...]:
    """Rows of one run, their series with them, with normalised rates and tries.

    `indices` are the run's active speed indices by tool. `document` is the run's, which alone has
    the tries: without it there are none.
    """
    measured = document["measurements"] if document else None
    return tuple(
        _measurement(
            row,
            indices.get(row.series.tool),
            measured[row.position]["samples"] if measured else (),
        )
        for row in rows
    )


def _measurement(
    row: Measurement, index: float | None, samples: Iterable[Mapping[str, Any]]
) -> MeasurementDetail:
    return MeasurementDetail(
        samples=tuple(samples),
        normalised=row.median / index if row.median is not None and index else None,
        negotiated_mac=row.negotiated.mac if row.negotiated else "",
        negotiated_kex=row.negotiated.kex if row.negotiated else "",
        **{name: getattr(row.series, name) for name in Series._fields},
        **{name: getattr(row, name) for name in _OF_THE_ROW},
    )


def run_detail(run_id: UUID) -> RunDetail | None:
    """One run that is not hidden; None when there is none of this id."""
    run = select_runs().filter(run_id=run_id).first()
    if run is None:
        return None
    indices = tuple(run.speed_indices.order_by("tool"))
    rows = run.measurements.select_related("series", "negotiated").order_by(
        "-series__tool",
        "series__method",
        "series__acceleration",
        "series__operation",
        "series__threads",
        "series__block_size",
        "series__cipher",
        "series__mac",
    )
    document = run.document.parsed
    return RunDetail(
        summary=_summary(run),
        environment=document["environment"],
        skipped=tuple(run.skipped),
        provenance=run.provenance,
        text_format=run.imported_text.format if run.imported_text else "",
        import_id=run.imported_text.import_id if run.imported_text else None,
        parser_version=run.parser_version,
        acceleration_evidence=run.acceleration_evidence,
        acceleration_advice=run.acceleration_advice,
        acceleration_factor=run.acceleration_factor,
        speed_indices=indices,
        measurements=measurement_details(rows, {one.tool: one.index for one in indices}, document),
    )


def run_document(run_id: UUID) -> bytes | None:
    """The document exactly as received; None when there is no such run."""
    run = shown_runs().filter(run_id=run_id).select_related("document").first()
    return run.document.received if run else None


def imported_text(run_id: UUID) -> bytes | None:
    """The text that a run was read from, as received; None for runs of agents."""
    shown = shown_runs().filter(run_id=run_id)
    run = shown.select_related("imported_text").first()
    return bytes(run.imported_text.body) if run and run.imported_text else None
