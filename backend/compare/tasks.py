"""Celery: the log of changes is kept short, and ClickHouse up to date."""

import logging
from typing import Any

from celery import Task, shared_task
from django.core.cache import cache
from django.db import connection, transaction

from core.outage import AnalyticsUnavailable

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 24 * 3600
"""ClickHouse may be brought millions of runs the first time."""


@shared_task
def forget_old_changes() -> None:
    """Remove what every copy has seen: one that was not asked for a day is read again."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_change WHERE changed_at < now() - interval '2 days'")


RETRIES = 5

QUEUED = "follow-in-clickhouse"
"""In the cache while a task waits, which does for all that is committed before it begins."""


def follow_soon(**_: Any) -> None:
    """Have ClickHouse follow what the transaction changes, once that is committed."""
    transaction.on_commit(_queue, robust=True)


def _queue() -> None:
    if cache.add(QUEUED, True, timeout=30):
        follow_in_clickhouse.apply_async(countdown=1)


@shared_task(
    bind=True, max_retries=RETRIES, soft_time_limit=LONGEST_SECONDS, time_limit=LONGEST_SECONDS + 60
)
def follow_in_clickhouse(self: "Task[Any, Any]") -> None:
    """Write what changed since the last time."""
    from compare.clickhouse import follow  # most sites have none

    cache.delete(QUEUED)
    try:
        follow()
    except AnalyticsUnavailable as error:  # another process does it, or it is away
        logger.info("%s", error)
        if self.request.retries < RETRIES:
            raise self.retry(countdown=2) from None
