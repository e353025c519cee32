"""Celery: thin tasks that take ids and are safe to repeat."""

import logging
from datetime import timedelta
from itertools import islice

from celery import Task, shared_task
from celery.utils import uuid
from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from runs import export_jobs, processing, rollups, speed_indices
from runs.models import ExportJob, ReferenceProfile, Run
from runs.pruning import Old, prune
from runs.queries import facets, rolled_up

logger = logging.getLogger(__name__)

ROLLUPS = (facets, rolled_up)
"""The modules that declare how rollups are made: a worker has to know them all."""
QUEUE = "celery"
"""Of all tasks: Celery's default."""

SWEEP_AFTER = timedelta(seconds=30)
"""A run still accepted after this long has lost its task (a broker or worker that died)."""

MAX_ATTEMPTS = 5
"""Begun this often without an end, it is the document that kills workers: it ends rejected."""

SWEEP_BATCH = 500

PRUNED_BATCHES = 50
"""Of one task: ten thousand runs, so that it never nears the time limit."""


@shared_task(autoretry_for=(OperationalError, IntegrityError), retry_backoff=True, max_retries=5)
def process_run(run_pk: int) -> None:
    """Turn one accepted document into rows."""
    processing.process_run(run_pk)


def enqueue(run: Run) -> None:
    """Have the run processed once the surrounding transaction is committed.

    When the broker cannot be reached the run is safe all the same: the sweeper will find it.
    """

    def publish() -> None:
        try:
            _publish(process_run, run.pk)
        except BrokerError as error:
            logger.warning("run %s waits for the sweeper: %s", run.run_id, error)

    transaction.on_commit(publish)


def _publish(task: Task[..., None], *arguments: int) -> None:
    """What `task.delay` does, without weighing its options anew: a quarter of the time.

    An upload would spend a third of its time in that.
    """
    app = task.app
    message = app.amqp.as_task_v2(uuid(), task.name, args=arguments, kwargs={})
    with app.producer_pool.acquire(block=True) as producer:
        producer.publish(
            message.body,
            exchange="",  # the queue itself
            routing_key=QUEUE,
            serializer="json",
            headers=message.headers,
            retry=True,
            retry_policy=settings.CELERY_TASK_PUBLISH_RETRY_POLICY,
            **message.properties,
        )


@shared_task
def sweep_accepted_runs() -> None:
    """Enqueue accepted runs whose task was lost; reject those that fail again and again."""
    waiting = Run.objects.filter(
        status=Run.Status.ACCEPTED, received_at__lt=timezone.now() - SWEEP_AFTER
    )
    waiting.filter(attempts__gte=MAX_ATTEMPTS).update(
        status=Run.Status.REJECTED,
        rejection=f"processing failed {MAX_ATTEMPTS} times; the server's log has the reason",
    )
    for run in waiting.order_by("id")[:SWEEP_BATCH]:
        enqueue(run)


@shared_task(autoretry_for=(OperationalError, IntegrityError), retry_backoff=True, max_retries=5)
def index_profile(profile_pk: int, after: int) -> None:
    """Compute the speed indices of the next runs under a new profile, then ask for more.

    The same call twice goes on once: what `after` names has been passed by then.
    """
    reached = speed_indices.index_next_runs(profile_pk, after)
    if reached is not None:
        enqueue_profile(profile_pk, reached)


def enqueue_profile(profile_pk: int, after: int = 0) -> None:
    """Go on with a profile's indices once the surrounding transaction is committed."""

    def publish() -> None:
        try:
            index_profile.delay(profile_pk, after)
        except BrokerError as error:
            logger.warning("profile %s waits for the sweeper: %s", profile_pk, error)

    transaction.on_commit(publish)


@shared_task
def sweep_profiles() -> None:
    """Go on with profiles whose task was lost, from where it had come to."""
    waiting = ReferenceProfile.objects.filter(
        completed_at=None, progressed_at__lt=timezone.now() - SWEEP_AFTER
    )
    for profile in waiting:
        enqueue_profile(profile.pk, profile.indexed_to)


EXPORT_SECONDS = 3600
"""The longest that making one file may take."""

EXPORT_WAITS_SECONDS = 3


@shared_task(
    bind=True,
    max_retries=None,
    soft_time_limit=EXPORT_SECONDS,
    time_limit=EXPORT_SECONDS + 60,
)
def make_export(self: "Task[[int], None]", job_pk: int) -> None:
    """Make the file of one job; called again, or for a job that is gone, it does nothing."""
    if export_jobs.another_runs(job_pk):
        raise self.retry(countdown=EXPORT_WAITS_SECONDS)
    export_jobs.make(job_pk)


def enqueue_export(job: ExportJob) -> None:
    """Have the file made once the surrounding transaction is committed."""

    def publish() -> None:
        try:
            make_export.delay(job.pk)
        except BrokerError as error:
            logger.warning("export %s waits for the sweeper: %s", job.job_id, error)

    transaction.on_commit(publish)


@shared_task
def sweep_exports() -> None:
    """Go on with exports whose task or worker was lost; delete what has expired."""
    export_jobs.delete_expired()
    for job in export_jobs.lost_jobs():
        enqueue_export(job)


@shared_task
def make_rollup(key: str) -> None:
    """Make a rollup anew that answered with older figures; nothing to do where it is exact."""
    rollups.make_rollup(key)


@shared_task
def forget_rollups() -> None:
    """Remove rollups that nobody has asked for since their data changed, for a week."""
    rollups.forget_rollups()


@shared_task
def prune_old_runs() -> None:
    """Delete what is older than CIPHERMARK_KEEP_DAYS; an hour later the rest of a great many."""
    if settings.CIPHERMARK_KEEP_DAYS is None:
        return
    old = Old(timezone.now() - timedelta(days=settings.CIPHERMARK_KEEP_DAYS))
    deleted = sum(islice(prune(old), PRUNED_BATCHES))
    if deleted:
        logger.info("%s runs older than CIPHERMARK_KEEP_DAYS were deleted", deleted)
