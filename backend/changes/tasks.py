"""Celery: look for changes of hosts that have other runs now, and send notifications.

Notifications have workers of their own: no upload waits for a receiver.
"""

import time

from celery import shared_task

from changes.detect import find_due, find_silent
from changes.sending import DEADLINE, due_channels, send_due

TURN = 4.0
"""Seconds after which other tasks have their turn; the next call goes on."""


@shared_task
def find_changes() -> None:
    """Look at hosts that are due, and for silent ones. Called every few seconds."""
    end = time.monotonic() + TURN
    while time.monotonic() < end and find_due():
        pass
    find_silent()


@shared_task
def send_notifications() -> None:
    """Have each channel's messages sent that has any: one that answers slowly delays no other."""
    for channel in due_channels():
        send_to_channel.delay(channel)


@shared_task(soft_time_limit=DEADLINE, time_limit=DEADLINE + 5)
def send_to_channel(channel_pk: int) -> None:
    """Send what is due for one channel; called again, it finds nothing to do."""
    send_due(channel_pk)
