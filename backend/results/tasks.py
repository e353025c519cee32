"""Celery: the snapshots that web processes start from."""

import subprocess  # nosec B404
import sys

from celery import shared_task
from django.conf import settings

SNAPSHOT_SECONDS = 300


@shared_task(soft_time_limit=SNAPSHOT_SECONDS + 10, time_limit=SNAPSHOT_SECONDS + 20)
def write_analytics_snapshot() -> None:
    """Write what web processes start from; in a process of its own, which gives its memory back."""
    command = (sys.executable, settings.PROJECT_DIR / "manage.py", "analytics", "--snapshot")
    subprocess.run(command, check=True, timeout=SNAPSHOT_SECONDS)  # nosec B603
