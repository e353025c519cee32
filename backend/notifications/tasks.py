"""Celery: notifications sent, by workers of their own: no upload waits for a receiver."""

from celery import shared_task

from notifications.sending import DEADLINE, due_channels, send_due


@shared_task
def send_notifications() -> None:
    """Have each channel's messages sent that has any: one that answers slowly delays no other."""
    for channel in due_channels():
        send_to_channel.delay(channel)


@shared_task(soft_time_limit=DEADLINE, time_limit=DEADLINE + 5)
def send_to_channel(channel_pk: int) -> None:
    """Send what is due for one channel; called again, it finds nothing to do."""
    send_due(channel_pk)
