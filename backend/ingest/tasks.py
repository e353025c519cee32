"""Celery: the changes of hosts that are due are found in the background."""

import time

from celery import shared_task

from ingest.fleet_changes.entries import count_stale
from ingest.fleet_changes.watching import find_due, find_silent

AT_MOST_SECONDS = 60.0


@shared_task
def find_fleet_changes() -> None:
    """Find the changes of hosts that are due, and the hosts that have gone silent."""
    end = time.monotonic() + AT_MOST_SECONDS
    find_due(until=lambda: time.monotonic() > end)
    find_silent()
    count_stale()
