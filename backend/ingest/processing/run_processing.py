"""Turning an accepted document into rows: host, environment, measurements, levels, indices.

Then changes are looked for in it. Seven round trips to the database a run: begun, transaction,
locked, stored, what is known of the host read and written, committed. What the document says is
worked out before, while nothing is locked.
"""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from django.db import IntegrityError, transaction

from analysis.ciphers.cipher_catalogue import family_of_series
from documents.environment import libraries
from documents.run_document import DocumentRejected, parse_run_document
from documents.types import RunDocument
from ingest.fleet_changes.host_state import ArrivedRun
from ingest.fleet_changes.watching import mark_due, watch_new_run
from ingest.processing.aes_verdict import is_complete, judge, judge_together
from ingest.processing.environments import environment_id
from ingest.processing.hosts import HostKey, host_id
from ingest.processing.id_cache import forget_everything
from ingest.processing.persist_results import DerivedRun, derive_rows, reject, store_rows
from ingest.processing.processing_locks import Begun, begin, lock_and_look_up
from store.models import Run
from telemetry.log_lines import while_processing

logger = logging.getLogger(__name__)

DERIVED_VERSION = 5
"""Counted up whenever a document yields other rows than before: `renew_runs` goes by it.

2: names of CPUs by number, spreads of CPU cost, CPU-bound levels, five verdicts with advice.
3: narrow rows, latest results.
4: sets of series; a migration told those of 3 theirs.
5: lengths of tries, no CPU cost of transfers too short to tell it, machine ids of runs.
"""


def _describe(run: Run, document: RunDocument) -> None:
    run.environment_id = environment_id(document.environment)
    run.started_at, run.finished_at = document.started_at, document.finished_at
    run.agent_name = document.agent_name[:100]
    run.agent_version = document.agent_version[:100]
    run.tags = dict(document.tags)
    run.conditions = [dict(condition) for condition in document.conditions]
    run.skipped = [dict(skipped) for skipped in document.skipped]
    run.status, run.rejection, run.derived_version = Run.Status.READY, "", DERIVED_VERSION


def derive(begun: Begun, raw: Mapping[str, Any]) -> DerivedRun:
    """All that follows from a document alone; its series and environment are stored when new.

    `DocumentRejected` where the document cannot be true.
    """
    document = parse_run_document(raw)
    _describe(begun.run, document)
    key = HostKey.of(document.host, published=begun.run.source == Run.Source.PUBLISHED)
    begun.run.machine_id = key.machine_id
    made = derive_rows(begun, key, document)
    judge(begun.run, made.measured, document.environment)
    return made


def store(made: Sequence[DerivedRun]) -> bool:
    """Make these accepted runs ready with all their rows, in the caller's transaction.

    False, and nothing is stored, when one of them or its document is no longer what it was.
    """
    found = lock_and_look_up([one.begun for one in made], [one.host for one in made])
    if not found.unchanged:
        return False
    for one in made:
        one.run.host_id = found.hosts.get(one.host) or host_id(one.host)
    store_rows(made)
    for one in made:
        if not is_complete(one.measured):
            judge_together(one.run, one.measured, one.facts)
    look_for_changes(made)
    return True


def _end(begun: Begun, at_most: int | None) -> bool:
    """Derive and store, or reject; False when the document was replaced meanwhile."""
    try:
        if at_most is not None and begun.run.attempts > at_most:
            raise DocumentRejected(
                f"processing failed {at_most} times; the server's log has the reason"
            )
        made = derive(begun, _read(begun.text))
    except DocumentRejected as reason:
        with transaction.atomic():
            return reject(begun, str(reason))
    with transaction.atomic():
        return store([made])


def _read(text: str) -> Mapping[str, Any]:
    try:
        return cast(Mapping[str, Any], json.loads(text.removeprefix("\ufeff")))
    except ValueError as error:
        raise DocumentRejected(f"the document cannot be read: {error}") from None


def _tell_end(begun: Begun, status: Run.Status, seconds: float) -> None:
    reason = f": {begun.run.rejection}" if status == Run.Status.REJECTED else ""
    logger.info("run %s is %s after %.0f ms%s", begun.run.run_id, status, seconds * 1000, reason)


def process_run(run_pk: int, *, at_most: int | None = None, count: bool = True) -> Run.Status:
    """Derive every row of one accepted run; safe to repeat.

    A run that has been begun `at_most` times before without an end is rejected: it is the
    document that ends its workers. `count` as in `ingest.processing.processing_locks.begin`.

    What is stored is stored in one transaction. A document that contradicts itself ends
    `rejected` with the reason; its bytes stay. Any other failure is raised with nothing stored:
    the run stays accepted and will be tried again.
    """
    while begun := begin(run_pk, count=count):
        try:
            with while_processing(begun.run.run_id):
                started = time.perf_counter()
                if _end(begun, at_most):
                    status = Run.Status(begun.run.status)
                    _tell_end(begun, status, time.perf_counter() - started)
                    return status
        except IntegrityError:
            forget_everything()  # a remembered row may have been deleted
            raise
    return Run.Status(Run.objects.values_list("status", flat=True).get(pk=run_pk))


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
