"""Celery: notifications sent. The sweep of every worker asks for it (`ingest.tasks`)."""

from celery import shared_task

from notifications.sending import due_channels, send_due
from store.broker import send


@shared_task
def send_notifications() -> None:
    """Have each channel's messages sent that has any: one that answers slowly delays no other."""
    for channel in due_channels():
        send(send_to_channel, channel)


@shared_task(soft_time_limit=60, time_limit=90)
def send_to_channel(channel_pk: int) -> None:
    """Send what is due for one channel; called again, it finds nothing to do."""
    send_due(channel_pk)
