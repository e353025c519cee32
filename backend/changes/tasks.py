"""Define Celery tasks that detect changes and send notifications.

Notifications have their own workers, so that uploads never wait for a receiver.
"""

import time

from celery import shared_task

from changes.detect import find_due, find_silent
from changes.sending import DEADLINE, due_channels, send_due

TURN = 4.0
"""Maximum duration of a task in seconds; the next task continues."""


@shared_task
def find_changes() -> None:
    """Detect changes of hosts that are due, and silent hosts. Runs every few seconds."""
    end = time.monotonic() + TURN
    while time.monotonic() < end and find_due():
        pass
    find_silent()


@shared_task
def send_notifications() -> None:
    """Queue a task per channel with due messages, so that slow receivers do not delay others."""
    for channel in due_channels():
        send_to_channel.delay(channel)


@shared_task(soft_time_limit=DEADLINE, time_limit=DEADLINE + 5)
def send_to_channel(channel_pk: int) -> None:
    send_due(channel_pk)
