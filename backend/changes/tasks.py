import time

from celery import shared_task

from changes.detect import find_due, find_silent
from changes.sending import DEADLINE, due_channels, send_due

TURN = 4.0  # maximum duration of a task in seconds; the next task continues


@shared_task
def find_changes() -> None:
    end = time.monotonic() + TURN
    while time.monotonic() < end and find_due():
        pass
    find_silent()


@shared_task
def send_notifications() -> None:
    # One task per channel, so that a slow receiver does not delay other channels.
    for channel in due_channels():
        send_to_channel.delay(channel)


@shared_task(soft_time_limit=DEADLINE, time_limit=DEADLINE + 5)
def send_to_channel(channel_pk: int) -> None:
    send_due(channel_pk)
