"""Celery: the snapshots that web processes start from; what ClickHouse is brought."""

import logging
import subprocess
import sys

from celery import shared_task
from django.conf import settings

from store.outage import AnalyticsUnavailable

logger = logging.getLogger(__name__)

SNAPSHOT_SECONDS = 24 * 3600 if settings.CIPHERMARK_ANALYTICS_URL else 300
"""ClickHouse may be brought millions of runs the first time."""


@shared_task(soft_time_limit=SNAPSHOT_SECONDS + 10, time_limit=SNAPSHOT_SECONDS + 20)
def write_analytics_snapshot() -> None:
    """Write what web processes start from; in a process of its own, which gives its memory back."""
    command = (sys.executable, settings.PROJECT_DIR / "manage.py", "analytics", "--snapshot")
    subprocess.run(command, check=True, timeout=SNAPSHOT_SECONDS)


@shared_task
def follow_in_clickhouse() -> None:
    """Bring what was committed, so that questions need not."""
    from results.analytics.clickhouse.maintenance import bring

    try:
        bring()
    except AnalyticsUnavailable as error:  # somebody else does, or it is away: again in 10 s
        logger.info("%s", error)
