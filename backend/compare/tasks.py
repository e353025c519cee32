"""Prune the log of changes and update ClickHouse in Celery tasks."""

import logging
from typing import Any

from celery import Task, shared_task
from django.core.cache import cache
from django.db import connection, transaction

from core.outage import AnalyticsUnavailable

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 24 * 3600
"""Time limit. The first update of ClickHouse may transfer millions of runs."""


@shared_task
def forget_old_changes() -> None:
    """Delete old entries of the log. Copies that are older than a day are rebuilt."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_change WHERE changed_at < now() - interval '2 days'")


RETRIES = 5

QUEUED = "follow-in-clickhouse"
"""Cache key set while a task is queued. The task includes all changes committed before it
begins."""


def follow_soon(**_: Any) -> None:
    """Queue an update of ClickHouse after the commit."""
    transaction.on_commit(_queue, robust=True)


def _queue() -> None:
    if cache.add(QUEUED, True, timeout=30):
        follow_in_clickhouse.apply_async(countdown=1)


@shared_task(
    bind=True, max_retries=RETRIES, soft_time_limit=LONGEST_SECONDS, time_limit=LONGEST_SECONDS + 60
)
def follow_in_clickhouse(self: "Task[Any, Any]") -> None:
    """Write the changes since the last update to ClickHouse."""
    from compare.clickhouse import follow  # imported only if configured

    cache.delete(QUEUED)
    try:
        follow()
    except (
        AnalyticsUnavailable
    ) as error:  # another process is updating ClickHouse, or it is unavailable
        logger.info("%s", error)
        if self.request.retries < RETRIES:
            raise self.retry(countdown=2) from None
