"""Celery: the changes that copies follow, and what ClickHouse is brought."""

import logging

from celery import shared_task
from django.conf import settings

from results.analytics.unseen_changes import forget_old_changes
from store.outage import AnalyticsUnavailable

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 24 * 3600
"""ClickHouse may be brought millions of runs the first time."""


@shared_task(soft_time_limit=LONGEST_SECONDS, time_limit=LONGEST_SECONDS + 60)
def tidy_analytics() -> None:
    """Forget changes that everybody has seen; bring ClickHouse what it has not, and tidy it."""
    if settings.CIPHERMARK_ANALYTICS_URL:
        from results.analytics.clickhouse.maintenance import keep_up

        try:
            keep_up()
        except AnalyticsUnavailable as error:
            logger.info("%s", error)
            return
    forget_old_changes()


@shared_task
def follow_in_clickhouse() -> None:
    """Bring what was committed, so that questions need not."""
    from results.analytics.clickhouse.maintenance import bring

    try:
        bring()
    except AnalyticsUnavailable as error:  # somebody else does, or it is away: again in 10 s
        logger.info("%s", error)
