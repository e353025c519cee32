"""Send due notifications, one message per channel, and retry failed ones.

An attempt is counted before it begins, so that an attempt that kills its worker counts as failed. A
message may be sent twice if a worker dies after the receiver's response.
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

MOST = 50
"""Maximum number of entries in a message."""

DEADLINE = 20
"""Time limit of a delivery in seconds."""
NO_END = f"No response within {DEADLINE} seconds."

PAUSE = timedelta(minutes=1)
"""Minimum interval between messages of a channel."""

FIRST_RETRY, LONGEST_RETRY = timedelta(minutes=1), timedelta(hours=6)
"""Wait before the first retry, and maximum wait; the wait doubles with each failure."""

GIVE_UP = timedelta(days=3)
KEPT = timedelta(days=90)

State = Notification.State


def due_channels() -> list[int]:
    now = timezone.now()
    sendable = Q(topic=TEST) | Q(channel__in=NotificationChannel.objects.open(now))
    due = Notification.objects.due(now).filter(sendable).order_by()
    return list(due.values_list("channel_id", flat=True).distinct())


def send_due(channel_pk: int) -> None:
    """Send the due messages of a channel unless another worker is sending them."""
    tests = _begin_tests(channel_pk)
    if tests:
        _send_test(tests)
        return
    channel = _begin(channel_pk)
    if channel is not None:
        _send_entries(channel)


@transaction.atomic
def _begin_tests(channel_pk: int) -> list[Notification]:
    """Claim test messages. Each is sent only once because a user waits for the result."""
    now = timezone.now()
    due = Notification.objects.due(now).filter(channel=channel_pk, topic=TEST)
    notifications = list(
        due.select_related("channel").select_for_update(skip_locked=True, of=("self",))
    )
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
def _begin(channel_pk: int) -> NotificationChannel | None:
    """Claim the channel until its next attempt. A successful delivery shortens the wait."""
    now = timezone.now()
    ready = NotificationChannel.objects.open(now).select_for_update(skip_locked=True)
    channel = ready.filter(pk=channel_pk).first()
    if channel is not None:
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
    """Attempt a delivery; return the error, or an empty string."""
    message = Message(tuple(notices.values()), site_url(reverse("change-pages")), channel.daily)
    began = time.monotonic()
    try:
        error = deliver(channel.address, message)
    except Exception as failed:  # noqa: BLE001 - whatever a service's code raises is a failed attempt
        error = f"The message was not sent ({type(failed).__name__})."
    if (
        error and time.monotonic() - began > DEADLINE - 2
    ):  # Apprise reports the timeout as a failure
        error = NO_END
    if error:
        logger.warning("cannot send a message to channel %s: %s", channel.pk, error)
    return error


def _end(rows: Sequence[Notification], state: Notification.State, error: str = "") -> None:
    ended = Notification.objects.filter(pk__in=[row.pk for row in rows])
    ended.update(state=state, error=error, ended_at=timezone.now())
