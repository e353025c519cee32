"""Sending what waits: one message for all that is due for a channel, tried again until taken.

A message is sent at least once: a worker that dies between the receiver's answer and the note of
it leaves a repetition, with the same id.
"""

import logging
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from exports.messages import Message, Notice
from notifications.notices import notices_of, site_url
from notifications.transports import DeliveryFailed, deliver
from store.models import Notification, NotificationChannel
from store.models.notification import TEST, to_send

logger = logging.getLogger(__name__)

MOST = 50
"""Entries of one message."""

PAUSE = timedelta(minutes=1)
"""Between two messages of a channel: whatever is found meanwhile is one message."""

FIRST_RETRY, LONGEST_RETRY = timedelta(minutes=1), timedelta(hours=6)
"""The wait doubles with each failure."""

GIVE_UP = timedelta(days=3)

CLAIM = timedelta(minutes=2)
"""Longer than a message can take."""

KEPT = timedelta(days=90)

State = Notification.State


def due_channels() -> list[int]:
    """Keys of the channels that have something to send now."""
    due = to_send(timezone.now()).order_by()
    return list(due.values_list("channel_id", flat=True).distinct())


def send_due(channel_pk: int) -> None:
    """Send what is due for a channel, unless another worker is at it."""
    now = timezone.now()
    mine = NotificationChannel.objects.filter(
        Q(busy_until=None) | Q(busy_until__lt=now), pk=channel_pk
    )
    if not mine.update(busy_until=now + CLAIM):
        return
    try:
        channel = NotificationChannel.objects.get(pk=channel_pk)
        due = Notification.objects.filter(channel=channel, state=State.WAITING, due_at__lte=now)
        _send_tests(channel, due)
        if not channel.paused and (channel.next_at is None or channel.next_at <= now):
            _send_entries(channel, due)
    finally:
        _note(channel_pk, busy_until=None)


def _send_tests(channel: NotificationChannel, due: QuerySet[Notification]) -> None:
    """A test is tried once: whoever asked for it is looking."""
    tests = list(due.filter(topic=TEST).order_by("pk")[:MOST])
    if tests:
        error = _try(channel, notices_of(tests))
        _end(tests, State.FAILED if error else State.SENT, error)


def _send_entries(channel: NotificationChannel, due: QuerySet[Notification]) -> None:
    rows = list(due.exclude(topic=TEST).order_by("pk")[:MOST])
    told = notices_of(rows)
    gone = [one for one in rows if one.pk not in told]
    _end(gone, State.WITHDRAWN, "The entry is gone, over, or somebody has looked at it.")
    if not told:
        return
    rows = [one for one in rows if one.pk in told]
    error = _try(channel, told, daily=channel.daily)
    now = timezone.now()
    if error:
        wait = min(FIRST_RETRY * 2 ** min(channel.failures, 20), LONGEST_RETRY)
        old = [one for one in rows if one.due_at < now - GIVE_UP]
        _end(old, State.FAILED, error)
        _note(channel.pk, failures=channel.failures + 1, next_at=now + wait)
    else:
        _end(rows, State.SENT)
        _note(channel.pk, failures=0, next_at=now + PAUSE)
    Notification.objects.filter(channel=channel, ended_at__lt=now - KEPT).delete()


def _try(channel: NotificationChannel, told: Mapping[int, Notice], daily: bool = False) -> str:
    """One attempt to send these, by the keys of their rows; what went wrong."""
    message = Message(tuple(told.values()), site_url(reverse("change-pages")), daily)
    error = ""
    try:
        deliver(channel, message)
    except DeliveryFailed as failed:
        error = str(failed)
    except SoftTimeLimitExceeded:
        error = "It took too long."
    if error:
        logger.warning("a message to the channel %s was not sent: %s", channel.pk, error)
    Notification.objects.filter(pk__in=told).update(attempts=F("attempts") + 1, error=error)
    return error


def _note(channel_pk: int, **values: Any) -> None:
    """Somebody may have deleted the channel meanwhile."""
    NotificationChannel.objects.filter(pk=channel_pk).update(**values)


def _end(rows: Collection[Notification], state: Notification.State, error: str = "") -> None:
    ended = Notification.objects.filter(pk__in=[one.pk for one in rows])
    ended.update(state=state, error=error, ended_at=timezone.now())
