"""Celery: changes looked for in hosts that have other runs now."""

import time

from celery import shared_task

from changes.detect import find_due, find_silent

TURN = 4.0
"""Seconds after which other tasks have their turn; the next call goes on."""


@shared_task
def find_changes() -> None:
    """Look at hosts that are due, and for silent ones. Called every few seconds."""
    end = time.monotonic() + TURN
    while time.monotonic() < end and find_due():
        pass
    find_silent()
