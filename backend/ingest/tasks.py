"""Celery: thin tasks that take ids and are safe to repeat; the sweep, and what it puts off."""

import logging
import time
from datetime import timedelta
from itertools import islice
from typing import Any

from celery import Task, shared_task
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from ingest.edits.pruning import PruningStopped, older_than, prune, refuse_too_many
from ingest.fleet_changes.entries import count_stale
from ingest.fleet_changes.watching import find_due, find_silent
from ingest.processing import run_processing as processing
from ingest.processing.processing_locks import claimed, next_accepted
from store.broker import clear_pending, enqueue_once, send, waiting_tasks
from store.models import HostWatch, Run
from store.outage import UNREACHABLE

logger = logging.getLogger(__name__)

SWEEP_AFTER = timedelta(seconds=5)
"""A run still accepted after this long has lost its task (a broker or worker that died)."""

SWEEP_AT_MOST = 20
"""With more tasks than this in the queue nothing is swept: what waits its turn is not lost."""

BEHIND = 50
"""With more runs than this so late, changes of hosts wait: runs that come late make more hosts due,
whose whole histories would take the worker's time until no run was ever in time again."""

MAX_ATTEMPTS = 5
"""Begun this often without an end, it is the document that kills workers: it ends rejected."""

TURN = 1.0
"""Seconds after which a task that processes run after run lets other tasks have their turn."""

LINGER = 0.05
"""Seconds that it waits for one more run before it ends: under a stream of uploads there is a task
a second then, not one for each, and the uploads have no word to send."""

PRUNED_BATCHES = 50
"""Of one task: ten thousand runs, so that it never nears the time limit."""


BROKEN_OFF = (*UNREACHABLE, IntegrityError)
"""What a database that is away, or another worker, does to a task: it is tried again."""


@shared_task(
    bind=True,
    soft_time_limit=30,
    time_limit=45,
    autoretry_for=BROKEN_OFF,
    retry_backoff=True,
    max_retries=5,
)
def process_run(self: "Task[Any, Any]", run_pk: int, begun: bool = False) -> None:
    """Turn one accepted document into rows. `begun`: before, until the database broke it off.

    The largest document takes two seconds; one that takes thirty is given up and tried again.
    """
    # A retry is no new attempt: the database broke the first off, not the document.
    first = self.request.retries == 0 and not begun
    with claimed(run_pk) as mine:
        if mine:
            processing.process_run(run_pk, at_most=MAX_ATTEMPTS, count=first)


@shared_task(soft_time_limit=30, time_limit=45)
def process_accepted(after: int = 0) -> None:
    """Process accepted runs with keys larger than `after`, of which nobody is at, in their order.

    After `TURN` it is another task's turn. A run that breaks this task off stays accepted for the
    sweep; those behind it are another task's at once.
    """
    clear_pending(process_accepted)
    end, reached = time.monotonic() + TURN, after
    while (found := _next_accepted(reached)) is not None:
        if time.monotonic() > end:
            enqueue_once(process_accepted)
            return
        reached = found
        if not _has_ended(reached):
            return


def _next_accepted(after: int) -> int | None:
    """The next one, or the one that comes in a moment."""
    found = next_accepted(after)
    if found is None:
        time.sleep(LINGER)
        found = next_accepted(after)
    return found


def _has_ended(run_pk: int) -> bool:
    """Process one run; what the database broke off is another task's, and so are those behind."""
    ended = False
    try:
        with claimed(run_pk) as mine:
            if mine:
                processing.process_run(run_pk, at_most=MAX_ATTEMPTS)
        ended = True
    except BROKEN_OFF as error:
        logger.warning("processing run %s was broken off, it is tried again: %s", run_pk, error)
        send(process_run, run_pk, True)
    finally:
        if not ended:
            send(process_accepted, run_pk)
    return ended


def enqueue_accepted() -> None:
    """Have accepted runs processed once the surrounding transaction is committed.

    When the broker cannot be reached they are safe all the same: the sweeper will find them.
    """

    transaction.on_commit(lambda: enqueue_once(process_accepted))


@shared_task
def sweep() -> None:
    """Say again what was lost with a broker or a worker; every worker asks for it, see `celery`."""
    if waiting_tasks() <= SWEEP_AT_MOST:
        sweep_accepted_runs()
        sweep_fleet_changes()


def sweep_accepted_runs() -> None:
    """Have accepted runs processed whose word was lost."""
    if _late_runs().exists():
        enqueue_accepted()


def _late_runs() -> QuerySet[Run]:
    return Run.objects.filter(
        status=Run.Status.ACCEPTED, received_at__lt=timezone.now() - SWEEP_AFTER
    )


def _is_behind() -> bool:
    return _late_runs()[: BEHIND + 1].count() > BEHIND


def sweep_fleet_changes() -> None:
    """Find changes where hosts are due: after an update, an edit, a run that came late."""
    if _is_behind():
        return
    if HostWatch.objects.filter(due__gt=0).exists():
        enqueue_once(find_fleet_changes)
    find_silent()
    count_stale()


@shared_task(autoretry_for=BROKEN_OFF, retry_backoff=True, max_retries=5)
def find_fleet_changes() -> None:
    """Find the changes of hosts that are due, host after host; after `TURN` in another task."""
    clear_pending(find_fleet_changes)
    end = time.monotonic() + TURN
    if _is_behind():
        return  # the sweep asks again
    if not find_due(until=lambda: time.monotonic() > end):
        enqueue_once(find_fleet_changes)


@shared_task
def prune_old_runs() -> None:
    """Delete what is older than CIPHERMARK_KEEP_DAYS; an hour later the rest of a great many."""
    if settings.CIPHERMARK_KEEP_DAYS is None:
        return
    old = older_than(settings.CIPHERMARK_KEEP_DAYS)
    try:
        refuse_too_many(old)
    except PruningStopped as stopped:
        logger.error("%s", stopped)
        return
    deleted = sum(islice(prune(old), PRUNED_BATCHES))
    if deleted:
        logger.info("%s runs older than CIPHERMARK_KEEP_DAYS were deleted", deleted)
