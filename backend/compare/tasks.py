import logging
from typing import Any

from celery import Task, shared_task
from django.core.cache import cache
from django.db import connection, transaction

from core.outage import AnalyticsUnavailable

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 24 * 3600
"""Time limit of `follow_in_clickhouse`. The first update can transfer millions of runs."""


@shared_task
def forget_old_changes() -> None:
    """Delete entries of `runs_change` that are more than two days old.

    No copy needs these entries, because a copy that is not updated for a day is rebuilt.
    """
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_change WHERE changed_at < now() - interval '2 days'")


RETRIES = 5

QUEUED = "follow-in-clickhouse"
"""Cache key that exists while a task is queued. A second task is not queued, because a task writes
all changes that were committed before the task began."""


def follow_soon(**_: Any) -> None:
    transaction.on_commit(_queue, robust=True)


def _queue() -> None:
    if cache.add(QUEUED, True, timeout=30):
        follow_in_clickhouse.apply_async(countdown=1)


@shared_task(
    bind=True, max_retries=RETRIES, soft_time_limit=LONGEST_SECONDS, time_limit=LONGEST_SECONDS + 60
)
def follow_in_clickhouse(self: "Task[Any, Any]") -> None:
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
