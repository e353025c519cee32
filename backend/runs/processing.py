"""Turning an accepted document into rows: host, environment, measurements, levels, indices."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.db import IntegrityError, transaction

from analysis.baselines import MeasuredSeries, baseline_levels, cpu_bound_levels
from analysis.cpu_cost import cpu_cost
from analysis.plausibility import is_plausible
from analysis.summary import summarise
from documents.naming import slug
from documents.run_document import DocumentRejected, parse_run_document
from documents.types import HostIdentity, RunDocument, Series
from documents.types import Measurement as MeasurementDocument
from runs import derived
from runs.environments import find_environment
from runs.judging import judge
from runs.models import (
    BaselineLevel,
    Host,
    Measurement,
    ReferenceProfile,
    Run,
)
from runs.queries.profiles import keep_profiles_as_they_are
from runs.series import negotiated_ids, series_ids
from runs.speed_indices import store_speed_indices

SLUG_ATTEMPTS = 20

DERIVED_VERSION = 3
"""Counted up whenever a document yields other rows than before: `renew_runs` goes by it.

2: names of CPUs by number, spreads of CPU cost, CPU-bound levels, five verdicts with advice.
3: narrow rows, latest results.
"""


def _free_slug(name: str) -> str:
    """A slug nobody has: the name's own, or that with the first free number."""
    wanted = slug(name)
    taken = set(Host.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}-{number}" in taken:
        number += 1
    return f"{wanted}-{number}"


def _find_host(identity: HostIdentity, published: bool) -> Host:
    """The host with this machine id or, where the document has none, with this name."""
    known: dict[str, Any] = (
        {"machine_id": identity.machine_id}
        if identity.machine_id and not published
        else {"machine_id": None, "name": identity.name, "published": published}
    )
    new = {"name": identity.name, "published": published}
    for _ in range(SLUG_ATTEMPTS):
        # Another worker may take the slug between the look and the insert.
        with suppress(IntegrityError):
            defaults = {**new, "slug": _free_slug(identity.name)}
            return Host.objects.get_or_create(**known, defaults=defaults)[0]
    raise IntegrityError(f"no free slug for the host {identity.name!r}")


def _row(run: Run, position: int, measurement: MeasurementDocument) -> Measurement:
    series = measurement.series
    rates = [sample.throughput for sample in measurement.samples]
    decrypt = series.operation == "decrypt"
    plausible = all(
        is_plausible(rate, series.threads, cipher=series.cipher, decrypt=decrypt) for rate in rates
    ) and not any(sample.implausible for sample in measurement.samples)
    summary = summarise(rates) if plausible else None
    cost = cpu_cost(measurement.samples) if plausible else None
    return Measurement(
        run=run,
        position=position,
        implausible=not plausible,
        median=summary.median if summary else None,
        minimum=summary.minimum if summary else None,
        maximum=summary.maximum if summary else None,
        n=len(rates),
        spread=summary.spread if summary else None,
        noisy=summary.noisy if summary else False,
        cpu_seconds_per_gb=cost.seconds_per_gb if cost else None,
        cpu_seconds_per_gb_spread=cost.seconds_per_gb_spread if cost else None,
        cpu_bound_throughput=cost.bound_throughput if cost else None,
        cpu_bound_throughput_spread=cost.bound_throughput_spread if cost else None,
    )


def _store_levels(run: Run, measured: list[MeasuredSeries], bounds: Mapping[Series, float]) -> None:
    rows = []
    for tool in ("ssh", "openssl"):
        bound = cpu_bound_levels(tool, measured, bounds)
        rows += [
            BaselineLevel(
                run=run, tool=tool, family=family, level=level, cpu_bound_level=bound.get(family)
            )
            for family, level in baseline_levels(tool, measured).items()
        ]
    BaselineLevel.objects.bulk_create(rows)


def _store(run: Run, document: RunDocument) -> None:
    numbers = series_ids(one.series for one in document.measurements)
    agreed = negotiated_ids(one.negotiated for one in document.measurements)
    rows = [_row(run, *numbered) for numbered in enumerate(document.measurements)]
    for row, one in zip(rows, document.measurements, strict=True):
        row.series_id = numbers[one.series]
        row.negotiated_id = agreed.get((one.negotiated.mac or "", one.negotiated.kex or ""))
    Measurement.objects.bulk_create(rows)
    measured = [
        MeasuredSeries(measurement.series, row.median)
        for measurement, row in zip(document.measurements, rows, strict=True)
        if row.median is not None
    ]
    bounds = {
        measurement.series: row.cpu_bound_throughput
        for measurement, row in zip(document.measurements, rows, strict=True)
        if row.cpu_bound_throughput is not None
    }
    _store_levels(run, measured, bounds)
    keep_profiles_as_they_are()
    store_speed_indices([run.pk], ReferenceProfile.objects.all())
    judge(run, measured, document.environment)


def _describe(run: Run, document: RunDocument) -> None:
    run.host = _find_host(document.host, run.source == Run.Source.PUBLISHED)
    run.environment = find_environment(document.environment)
    run.started_at, run.finished_at = document.started_at, document.finished_at
    run.agent_name = document.agent_name[:100]
    run.agent_version = document.agent_version[:100]
    run.tags = dict(document.tags)
    run.conditions = [dict(condition) for condition in document.conditions]
    run.skipped = [dict(skipped) for skipped in document.skipped]


def process_run(run_pk: int) -> Run.Status:
    """Derive every row of one accepted run, in one transaction; safe to repeat.

    A document that contradicts itself ends `rejected` with the reason; its bytes stay. Any
    other failure rolls back and is raised: the run stays accepted and will be tried again.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_pk)
        if run.status != Run.Status.ACCEPTED:
            return Run.Status(run.status)
        raw = json.loads(bytes(run.document.body))
        try:
            document = parse_run_document(raw, received_at=run.received_at)
        except DocumentRejected as reason:
            run.status, run.rejection = Run.Status.REJECTED, str(reason)
        else:
            _describe(run, document)
            _store(run, document)
            run.status, run.derived_version = Run.Status.READY, DERIVED_VERSION
        run.save()
        if run.status == Run.Status.READY:
            derived.add_run(run)
        return Run.Status(run.status)
