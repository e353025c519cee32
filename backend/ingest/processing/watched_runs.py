"""Stored runs handed on to where changes in the fleet are found."""

from collections.abc import Sequence

from analysis.ciphers.cipher_families import family_of_series
from documents.environment import libraries
from ingest.fleet_changes.host_state import ArrivedRun
from ingest.fleet_changes.watching import mark_due, watch_new_run
from ingest.processing.persist_results import DerivedRun
from store.models import Run


def look_for_changes(made: Sequence[DerivedRun]) -> None:
    """Look for changes in runs that the caller's transaction has just stored.

    In one at once; of several that were loaded together the hosts are due.
    """
    if len(made) > 1:
        mark_due({host for one in made if (host := one.run.host_id) is not None})
        return
    for one in made:
        _look(one)


def _look(made: DerivedRun) -> None:
    run = made.run
    if run.host_id is None or run.environment_id is None or run.started_at is None:
        return
    if run.source == Run.Source.PUBLISHED:
        return
    figures = [row for row in made.results if row.median is not None]
    families = {
        row.series_id: family
        for row, measured in zip(figures, made.measured, strict=True)
        if (family := family_of_series(measured.series))
    }
    arrived = ArrivedRun(
        key=run.pk,
        at=run.started_at,
        expected_again=run.source == Run.Source.AGENT,
        disturbed=bool(run.conditions),
        environment=run.environment_id,
        verdict=run.acceleration,
        libraries=libraries(made.facts),
        rates={row.series_id: row.median for row in figures if row.median is not None},
    )
    watch_new_run(run.host_id, arrived, families)
