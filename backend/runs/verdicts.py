"""Determine the AES verdicts of runs.

A verdict compares results with and without AES hardware. A published or imported run often contains
only one of these results. The verdict then uses all runs of the host in one environment, in any
order of upload.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from cipherspeed.acceleration import TELLING_CIPHERS, acceleration_verdict
from cipherspeed.baselines import MEMBERS, MeasuredSeries
from cipherspeed.types import Series
from runs.models import Measurement, Run
from runs.models.run import RunQuerySet

SIBLINGS = 20
"""Maximum number of runs of a host whose results are combined for a verdict."""

FIELDS = (
    "acceleration",
    "acceleration_evidence",
    "acceleration_advice",
    "acceleration_factor",
)
BASELINES = tuple(cipher for members in MEMBERS.values() for cipher in members)
TELLING = tuple(name for names in TELLING_CIPHERS.values() for name in names)


def judge(run: Run, measured: Sequence[MeasuredSeries], facts: Mapping[str, Any]) -> None:
    """Set the AES verdict of a run before the run is saved.

    If the run does not have results both with and without AES hardware, also use other runs of the
    host in the environment. Save the new verdicts of these runs.
    """
    if is_complete(measured):
        _set_verdict(run, measured, facts)
        return
    beside = _measured(
        Run.objects.filter(host=run.host, environment=run.environment).exclude(pk=run.pk)
    )
    together = _united([*beside, (run, measured)])
    _set_verdict(run, together, facts)
    if is_complete(together):
        for sibling, own in beside:
            if not is_complete(own):
                _set_verdict(sibling, together, facts)
                sibling.save(update_fields=FIELDS)


def judge_again(host_pk: int, environment_pk: int) -> None:
    """Update the AES verdicts of the latest runs of a host in an environment.

    Call this function after a run is hidden, shown, deleted or moved, because the verdicts of
    other runs can depend on that run.
    """
    parts = _measured(Run.objects.filter(host=host_pk, environment=environment_pk))
    together = _united(parts)
    for run, own in parts:
        if not is_complete(own):
            _set_verdict(run, together, run.document.environment)
            run.save(update_fields=FIELDS)


def _set_verdict(run: Run, measured: Sequence[MeasuredSeries], facts: Mapping[str, Any]) -> None:
    verdict = acceleration_verdict(measured, facts, run.skipped)
    run.acceleration = verdict.verdict
    run.acceleration_evidence = verdict.evidence
    run.acceleration_advice = verdict.advice or ""
    run.acceleration_factor = verdict.factor


def is_complete(measured: Iterable[MeasuredSeries]) -> bool:
    """Return whether a cipher in `TELLING` was measured both with and without AES hardware."""
    modes: dict[str, set[str]] = {}
    for result in measured:
        if result.series.cipher in TELLING:
            modes.setdefault(result.series.cipher, set()).add(result.series.acceleration)
    return any(len(accelerations) > 1 for accelerations in modes.values())


def _united(parts: Iterable[tuple[Run, Sequence[MeasuredSeries]]]) -> list[MeasuredSeries]:
    """Return one result for each series: the result of the latest run with the series."""
    united: dict[Series, MeasuredSeries] = {}
    for _, measured in sorted(parts, key=_made_at, reverse=True):
        for result in measured:
            united.setdefault(result.series, result)
    return list(united.values())


def _made_at(part: tuple[Run, object]) -> tuple[str, str]:
    run = part[0]
    return (run.started_at.isoformat() if run.started_at else "", str(run.run_id))


def _measured(runs: RunQuerySet) -> list[tuple[Run, list[MeasuredSeries]]]:
    """Return the latest visible runs. Each run has the series that are relevant for a verdict."""
    counted = runs.counted().order_by("-id")[:SIBLINGS]
    parts: dict[int, tuple[Run, list[MeasuredSeries]]] = {run.pk: (run, []) for run in counted}
    rows = Measurement.objects.filter(
        run_id__in=parts, series__cipher__in=(*TELLING, *BASELINES), median__isnull=False
    )
    for row in rows.select_related("series").order_by("position"):
        measured = MeasuredSeries(row.series.configuration(), cast(float, row.median))
        parts[row.run_id][1].append(measured)
    return list(parts.values())
