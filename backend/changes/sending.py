"""Send the due notifications of each channel as one message, and retry failed messages.

An attempt is counted before the delivery, so a crash of the worker counts as a failed attempt. If a
worker crashes after the receiver has accepted a message, the message is sent twice.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from changes.messages import Message, Notice
from changes.models import Notification, NotificationChannel
from changes.models.notification import TEST
from changes.notices import notices_of, site_url
from changes.services import deliver

logger = logging.getLogger(__name__)

MOST = 50  # maximum number of notifications in a message

DEADLINE = 20  # seconds for a delivery
NO_END = f"No response within {DEADLINE} seconds."

PAUSE = timedelta(minutes=1)  # minimum interval between two messages to a channel

# The wait before a retry begins with FIRST_RETRY and doubles with each failure.
FIRST_RETRY, LONGEST_RETRY = timedelta(minutes=1), timedelta(hours=6)

GIVE_UP = timedelta(days=3)
KEPT = timedelta(days=90)

State = Notification.State


def due_channels() -> list[int]:
    now = timezone.now()
    sendable = Q(topic=TEST) | Q(channel__in=NotificationChannel.objects.open(now))
    due = Notification.objects.due(now).filter(sendable).order_by()
    return list(due.values_list("channel_id", flat=True).distinct())


def send_due(channel_pk: int) -> None:
    """Send the due notifications of a channel unless another worker is sending to this channel."""
    tests = _claim_tests(channel_pk)
    if tests:
        _send_test(tests)
        return
    channel = _claim_channel(channel_pk)
    if channel is not None:
        _send_entries(channel)


@transaction.atomic
def _claim_tests(channel_pk: int) -> list[Notification]:
    now = timezone.now()
    due = Notification.objects.due(now).filter(channel=channel_pk, topic=TEST)
    notifications = list(
        due.select_related("channel").select_for_update(skip_locked=True, of=("self",))
    )
    # A user waits for the result of a test message, so a failed attempt is not repeated.
    _end(
        [notification for notification in notifications if notification.attempts],
        State.FAILED,
        NO_END,
    )
    tests = [notification for notification in notifications if not notification.attempts]
    taken = Notification.objects.filter(pk__in=[test.pk for test in tests])
    taken.update(attempts=1, due_at=now + 2 * timedelta(seconds=DEADLINE))
    return tests


def _send_test(tests: Sequence[Notification]) -> None:
    error = _try(tests[0].channel, notices_of(tests))
    _end(tests, State.FAILED if error else State.SENT, error)


@transaction.atomic
def _claim_channel(channel_pk: int) -> NotificationChannel | None:
    now = timezone.now()
    ready = NotificationChannel.objects.open(now).select_for_update(skip_locked=True)
    channel = ready.filter(pk=channel_pk).first()
    if channel is not None:
        # The wait applies if this attempt fails. A successful delivery shortens the wait.
        wait = min(FIRST_RETRY * 2 ** min(channel.failures, 20), LONGEST_RETRY)
        channel.failures, channel.next_at = channel.failures + 1, now + wait
        channel.save(update_fields=["failures", "next_at"])
    return channel


def _send_entries(channel: NotificationChannel) -> None:
    now = timezone.now()
    due = Notification.objects.due(now).filter(channel=channel).exclude(topic=TEST)
    rows = list(due.order_by("pk")[:MOST])
    notices = notices_of(rows)
    gone = [row for row in rows if row.pk not in notices]
    _end(gone, State.WITHDRAWN, "The change was deleted, ended or acknowledged before sending.")
    rows = [row for row in rows if row.pk in notices]
    ours = Notification.objects.filter(pk__in=notices)
    ours.update(attempts=F("attempts") + 1, error=NO_END)
    error = _try(channel, notices) if notices else ""
    if error:
        ours.update(error=error)
        _end([row for row in rows if row.due_at < now - GIVE_UP], State.FAILED, error)
    else:
        _end(rows, State.SENT)
        next_at = timezone.now() + PAUSE if rows else None
        NotificationChannel.objects.filter(pk=channel.pk).update(failures=0, next_at=next_at)
    Notification.objects.filter(channel=channel, ended_at__lt=now - KEPT).delete()


def _try(channel: NotificationChannel, notices: Mapping[int, Notice]) -> str:
    message = Message(tuple(notices.values()), site_url(reverse("change-pages")), channel.daily)
    began = time.monotonic()
    try:
        error = deliver(channel.address, message)
    except Exception as failed:  # noqa: BLE001 - whatever a service's code raises is a failed attempt
        error = f"The message was not sent ({type(failed).__name__})."
    # Apprise reports the timeout as a failure.
    if error and time.monotonic() - began > DEADLINE - 2:
        error = NO_END
    if error:
        logger.warning("cannot send a message to channel %s: %s", channel.pk, error)
    return error


def _end(rows: Sequence[Notification], state: Notification.State, error: str = "") -> None:
    ended = Notification.objects.filter(pk__in=[row.pk for row in rows])
    ended.update(state=state, error=error, ended_at=timezone.now())
