import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from django.db import transaction

from cipherspeed import types
from cipherspeed.baselines import MeasuredSeries, baseline_levels, speed_of_run
from cipherspeed.environment import dimensions, fingerprint, ssh_environment, ssh_library
from cipherspeed.run_document import DocumentRejected, parse_run_document
from cipherspeed.summary import (
    cpu_seconds_per_gb,
    highest_plausible,
    median_of_sorted,
    summarise,
    throughput,
)
from core.log_lines import add_to_context
from runs.models import (
    BaselineLevel,
    DimensionValue,
    Environment,
    Host,
    HostWatch,
    Measurement,
    Negotiated,
    Run,
    RunSpeedIndex,
    Series,
)
from runs.models.dimension import OF_LIBRARIES
from runs.signals import run_rejected
from runs.verdicts import judge

MAX_ATTEMPTS = 5

DERIVED_VERSION = 5
"""Version of the processing code. Increase the version if the derived rows change.

`renew_runs` then processes older runs again.
"""

TOOLS = ("ssh", "openssl")


def _locked(run_pk: int) -> Run:
    return Run.objects.select_for_update(of=("self",)).select_related("document").get(pk=run_pk)


@transaction.atomic
def derive_run(run_pk: int) -> Run:
    """Process an accepted run: store the derived rows, or reject the run.

    A run with another status remains unchanged. If processing fails with an unexpected error,
    nothing is stored, and the run remains accepted.
    """
    run = _locked(run_pk)
    if run.status == Run.Status.ACCEPTED:
        _derive(run)
    return run


@transaction.atomic
def renew_run(run_pk: int) -> Run:
    """Process a run again, and replace the derived rows.

    If the stored document is damaged, raise `ValueError` and keep the old rows.
    """
    run = _locked(run_pk)
    json.loads(run.document.received)  # `ValueError` if it was damaged in the database
    for rows in (run.measurements, run.baseline_levels, run.speed_indices):
        rows.all().delete()
    host_before = run.host_id
    _derive(run)
    if host_before is not None:  # this may have been the host's latest run
        Host.objects.filter(pk=host_before).refresh_latest_run()
    return run


def _derive(run: Run) -> None:
    add_to_context(run_id=str(run.run_id))
    try:
        if run.attempts > MAX_ATTEMPTS:
            raise DocumentRejected(f"processing failed {MAX_ATTEMPTS} times; see the server log")
        document = parse_run_document(json.loads(run.document.received))
    except ValueError as error:
        run.status, run.rejection = Run.Status.REJECTED, str(error)
        run.save(update_fields=["status", "rejection"])
        run_rejected.send(Run, run=run)
    else:
        _store(run, document)


def _store(run: Run, document: types.RunDocument) -> None:
    published = run.source == Run.Source.PUBLISHED
    # Process runs of a host one by one, because a run can change the verdict of earlier ones.
    run.host = Host.objects.recognise(
        document.host.machine_id, document.host.name, published=published
    )
    run.machine_id = None if published else document.host.machine_id
    run.environment = environment_of(document.environment)
    run.started_at, run.finished_at = document.started_at, document.finished_at
    run.agent_name, run.agent_version = document.agent_name[:100], document.agent_version[:100]
    run.tags, run.conditions = dict(document.tags), list(document.conditions)
    run.skipped = list(document.skipped)
    run.status, run.rejection, run.derived_version = Run.Status.READY, "", DERIVED_VERSION
    rows = _measurements(run, document.measurements)
    Measurement.objects.bulk_create(rows)
    measured = [
        MeasuredSeries(measurement.series, row.median)
        for row, measurement in zip(rows, document.measurements, strict=True)
        if row.median is not None
    ]
    _store_levels(run, measured)
    judge(run, measured, document.environment)
    run.save()
    Host.objects.filter(pk=run.host.pk).refresh_latest_run()
    HostWatch.objects.mark_due([run.host.pk])


def _measurements(run: Run, measurements: Sequence[types.Measurement]) -> list[Measurement]:
    series_ids = _series_ids(measurement.series for measurement in measurements)
    negotiated_ids: dict[types.Negotiated, int | None] = {}
    rows = []
    for position, measurement in enumerate(measurements):
        agreed = measurement.negotiated
        if agreed not in negotiated_ids:
            negotiated_ids[agreed] = _negotiated_id(agreed)
        row = Measurement(
            run=run,
            series_id=series_ids[measurement.series],
            position=position,
            negotiated_id=negotiated_ids[agreed],
            n=len(measurement.samples),
            noisy=False,
            implausible=not _is_plausible(measurement),
        )
        if not row.implausible:
            _summarise(row, measurement)
        rows.append(row)
    return rows


def _is_plausible(measurement: types.Measurement) -> bool:
    series = measurement.series
    limit = highest_plausible(
        series.threads, cipher=series.cipher, decrypt=series.operation == "decrypt"
    )
    return all(
        0 < throughput(sample) <= limit and not sample.implausible for sample in measurement.samples
    )


def _summarise(row: Measurement, measurement: types.Measurement) -> None:
    samples = measurement.samples
    summary = summarise([throughput(sample) for sample in samples])
    row.noisy, row.median, row.spread = summary.noisy, summary.median, summary.spread
    row.minimum, row.maximum = summary.minimum, summary.maximum
    if cost := cpu_seconds_per_gb(samples):
        row.cpu_seconds_per_gb, row.cpu_seconds_per_gb_spread = cost
    lengths = sorted(sample.seconds for sample in samples if sample.seconds)
    if measurement.series.method == "pipeline" and lengths:
        row.try_seconds = median_of_sorted(lengths)


def _store_levels(run: Run, measured: Sequence[MeasuredSeries]) -> None:
    for tool in TOOLS:
        BaselineLevel.objects.bulk_create(
            BaselineLevel(run=run, tool=tool, family=family, level=level)
            for family, level in baseline_levels(tool, measured).items()
        )
        speed = speed_of_run(tool, measured)
        if speed is not None:
            index = RunSpeedIndex(run=run, tool=tool, index=speed.index)
            index.uncertainty, index.families = speed.uncertainty, list(speed.families)
            index.save()


def environment_of(facts: Mapping[str, Any]) -> Environment:
    digest = fingerprint(facts)
    environment = Environment.objects.filter(fingerprint=digest).first()
    if environment is not None:
        return environment
    labelled, library = dimensions(facts), ssh_library(facts)
    labels = {field.name: (field.name, getattr(labelled, field.name)) for field in fields(labelled)}
    if library is not None:
        for dimension, column in OF_LIBRARIES.items():
            labels[column] = (dimension, getattr(library, dimension))
    columns = {}
    for column, (dimension, value) in labels.items():
        columns[column], _ = DimensionValue.objects.get_or_create(
            dimension=dimension, key=value.key, defaults={"label": value.label}
        )
    values = {**columns, "ssh_environment": ssh_environment(facts)}
    return Environment.objects.get_or_create(fingerprint=digest, defaults=values)[0]


def series_key(series: types.Series) -> str:
    return json.dumps(series, separators=(",", ":"), ensure_ascii=False)


def _series_ids(series: Iterable[types.Series]) -> dict[types.Series, int]:
    wanted = {series_key(configuration): configuration for configuration in series}
    stored = Series.objects.filter(key__in=wanted)
    ids = dict(stored.values_list("key", "pk"))
    if missing := wanted.keys() - ids.keys():
        # Insert in a fixed order, so that concurrent workers do not deadlock.
        new = [Series(key=key, **_columns(wanted[key])) for key in sorted(missing)]
        Series.objects.bulk_create(new, ignore_conflicts=True)
        ids = dict(stored.all().values_list("key", "pk"))
    return {series: ids[key] for key, series in wanted.items()}


def _columns(series: types.Series) -> dict[str, Any]:
    texts = ("mac", "method", "target_kind", "target_name")
    return {
        name: value or "" if name in texts else value for name, value in series._asdict().items()
    }


def _negotiated_id(agreed: types.Negotiated) -> int | None:
    if not (agreed.mac or agreed.kex):
        return None
    return Negotiated.objects.get_or_create(mac=agreed.mac or "", kex=agreed.kex or "")[0].pk
