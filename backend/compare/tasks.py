"""Celery: the log of changes is kept short, and ClickHouse up to date."""

import logging

from celery import shared_task
from django.db import connection

from core.outage import AnalyticsUnavailable

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 24 * 3600
"""ClickHouse may be brought millions of runs the first time."""


@shared_task
def forget_old_changes() -> None:
    """Remove what every copy has seen: one that was not asked for a day is read anew."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_change WHERE changed_at < now() - interval '2 days'")


@shared_task(soft_time_limit=LONGEST_SECONDS, time_limit=LONGEST_SECONDS + 60)
def follow_in_clickhouse() -> None:
    """Write what changed since the last time."""
    from compare.clickhouse import follow  # most sites have none

    try:
        follow()
    except AnalyticsUnavailable as error:  # another process does it, or it is away: again soon
        logger.info("%s", error)
