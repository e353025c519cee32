"""Notifications, written in the transaction of what they tell of: to whom, and when again.

`notifications` sends them. Nothing is written unless a channel asks for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from uuid import UUID

from django.utils import timezone

from documents.naming import tags_by_key
from store.models import FleetChange, FleetChangeMember, Notification, NotificationChannel, Run
from store.models.notification import REJECTED, TOPIC_WORDS, severity_of

NEWS = timedelta(days=14)
"""What is older when it is found is history: listed, but not sent."""

DIGEST_AT = time(6)
"""UTC."""

SILENCE_WAITS = timedelta(hours=1)
"""Before a silent host is told of: an agent that was offline sends its old runs one by one, and
until the last of them has arrived the host looks silent."""

REPEATED = timedelta(days=1)
"""Between two messages about one entry that further hosts join, as in an upgrade of the fleet, and
about rejected runs of one host: an agent with a wrong clock has each of them rejected."""

LONGEST_TITLE = 300


@dataclass(frozen=True)
class Event:
    """Something to tell, of a host whose run has these tags."""

    kind: str
    topic: str
    title: str
    tags: Mapping[str, str]
    change_key: int | None = None
    run_id: UUID | None = None


def is_news(at: datetime) -> bool:
    """Whether it happened lately."""
    return at > timezone.now() - NEWS


def notify_of_parts(members: Iterable[FleetChangeMember]) -> None:
    """A host has become a certain part of these entries."""
    parts = {one.change_id: one for one in members}
    channels = _channels() if parts else []
    for one in parts.values() if channels else ():
        run, topic = one.run, one.change.direction
        title = f"{run.host.name if run.host else run.host_name}: {TOPIC_WORDS[topic]}"
        _write(Event(one.change.kind, topic, title, run.tags, change_key=one.change_id), channels)


def notify_of_rejection(run: Run) -> None:
    """Tell of a rejected run: it has no host, so the name and tags of its document count."""
    channels = _channels()
    if not channels:
        return
    title = f"{run.host_name}: {TOPIC_WORDS[REJECTED]}"[:LONGEST_TITLE]
    tags = run.document.parsed.get("tags") or {}
    event = Event(REJECTED, REJECTED, title, tags, run_id=run.run_id)
    since = timezone.now() - REPEATED
    lately = Notification.objects.filter(topic=REJECTED, title=event.title, created_at__gt=since)
    told = set(lately.values_list("channel_id", flat=True))
    _write(event, [one for one in channels if one.pk not in told])


def _channels() -> list[NotificationChannel]:
    return list(NotificationChannel.objects.filter(paused=False))


def _write(event: Event, channels: Iterable[NotificationChannel]) -> None:
    is_silence = event.topic == FleetChange.Direction.SILENT
    due = timezone.now() + (SILENCE_WAITS if is_silence else timedelta())
    told = _again_at(event.change_key) if event.change_key else {}
    rows = [
        Notification(
            channel=channel,
            topic=event.topic,
            title=event.title[:LONGEST_TITLE],
            change_key=event.change_key,
            run_id=event.run_id,
            due_at=_due(channel, max(due, told.get(channel.pk, due))),
        )
        for channel in channels
        if _concerns(channel, event)
    ]
    Notification.objects.bulk_create(rows, ignore_conflicts=True)


def _again_at(change_key: int) -> dict[int, datetime]:
    """Channel -> when it may be sent the entry again."""
    rows = Notification.objects.filter(change_key=change_key).order_by("id")
    return {key: at + REPEATED for key, at in rows.values_list("channel_id", "created_at")}


def _concerns(channel: NotificationChannel, event: Event) -> bool:
    """Whether the channel's rule lets it through: of several tags of one key any suffices."""
    if channel.severity > severity_of(event.topic):
        return False
    if channel.kinds and event.kind not in channel.kinds:
        return False
    wanted = tags_by_key(channel.tags)
    return all(event.tags.get(key) in values for key, values in wanted.items())


def _due(channel: NotificationChannel, at: datetime) -> datetime:
    """Then, or in the next digest."""
    if not channel.daily:
        return at
    digest = datetime.combine(at.date(), DIGEST_AT, at.tzinfo)
    return digest if at < digest else digest + timedelta(days=1)
