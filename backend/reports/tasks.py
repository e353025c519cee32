"""Celery: files made in the background."""

from celery import Task, shared_task
from django.db import transaction

from reports import export_jobs
from store.broker import send
from store.models import ExportJob

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
    """Create the file of one job; called again, or for a job that is gone, it does nothing."""
    if export_jobs.another_runs(job_pk):
        raise self.retry(countdown=EXPORT_WAITS_SECONDS)
    export_jobs.make(job_pk)


def enqueue_export(job: ExportJob) -> None:
    """Have the file made once the surrounding transaction is committed."""

    transaction.on_commit(lambda: send(make_export, job.pk))


@shared_task
def sweep_exports() -> None:
    """Go on with exports whose task or worker was lost; delete what has expired."""
    for job in export_jobs.lost_jobs():
        enqueue_export(job)
    export_jobs.delete_expired()  # last: an object storage that is away keeps nobody waiting
