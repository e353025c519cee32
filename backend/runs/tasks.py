import logging
import time
from itertools import islice
from typing import Any

from celery import Task, shared_task
from django.conf import settings
from django.db import IntegrityError
from django.db.models import F
from django.utils import timezone

from core.outage import UNREACHABLE
from runs import processing
from runs.models import Run
from runs.pruning import prune

logger = logging.getLogger(__name__)

QUEUED_AT_ONCE = 1000

# Ten thousand runs, well within the time limit of a task.
PRUNED_BATCHES = 50


@shared_task(
    bind=True,
    soft_time_limit=30,
    time_limit=45,
    autoretry_for=(*UNREACHABLE, IntegrityError),
    retry_backoff=True,
    max_retries=5,
)
def process_run(self: "Task[Any, Any]", run_pk: int) -> None:
    waiting = Run.objects.filter(pk=run_pk, status=Run.Status.ACCEPTED)
    # Count the attempt before processing, because a document can kill the process. Retries after a
    # database outage do not count.
    if not waiting.update(attempts=F("attempts") + int(self.request.retries == 0)):
        return
    started = time.perf_counter()
    run = processing.derive_run(run_pk)
    milliseconds = (time.perf_counter() - started) * 1000
    reason = f": {run.rejection}" if run.rejection else ""
    logger.info("run %s is %s after %.0f ms%s", run.run_id, run.status, milliseconds, reason)


@shared_task
def queue_waiting_runs() -> None:
    """Queue again each run that has waited longer than `REQUEUE_AFTER` for processing.

    If a run is queued twice, the second task does nothing.
    """
    late = Run.objects.filter(
        status=Run.Status.ACCEPTED, received_at__lt=timezone.now() - settings.REQUEUE_AFTER
    )
    for run_pk in late.order_by("received_at").values_list("pk", flat=True)[:QUEUED_AT_ONCE]:
        process_run.delay(run_pk)


@shared_task
def prune_old_runs() -> None:
    """Delete up to 10,000 runs that are older than CIPHERMARK_KEEP_DAYS days.

    If more runs remain, the next execution of this task deletes them.
    """
    if settings.CIPHERMARK_KEEP_DAYS is None:
        return
    deleted = sum(islice(prune(settings.CIPHERMARK_KEEP_DAYS), PRUNED_BATCHES))
    if deleted:
        logger.info("deleted %s runs older than CIPHERMARK_KEEP_DAYS", deleted)
