"""Queue notifications in the database transaction that stores the change or the rejected run.

`changes.sending` sends the queued notifications later.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, time, timedelta
from typing import Any

from django.utils import timezone

from changes.models import (
    FleetChange,
    FleetChangeMember,
    Notification,
    NotificationChannel,
)
from changes.models.notification import REJECTED, TOPIC_WORDS, severity_of
from cipherspeed.naming import tags_by_key
from runs.models import Run

# Maximum age of a detected change for a notification. Older changes are only listed.
NEWS = timedelta(days=14)

DIGEST_AT = time(6)  # time of daily messages in UTC

# Delay of messages about silent hosts. An agent that was offline uploads old runs one by one, and
# the host appears silent until the last run has arrived.
SILENCE_WAITS = timedelta(hours=1)

# Minimum interval between messages about a change that more and more hosts join (such as an
# upgrade of the fleet), or about the rejected runs of a host (such as a host with a wrong clock).
REPEATED = timedelta(days=1)

LONGEST_TITLE = 300


def is_news(at: datetime) -> bool:
    return at > timezone.now() - NEWS


def notify_of_parts(members: Iterable[FleetChangeMember]) -> None:
    parts = {member.change_id: member for member in members}
    channels = _channels() if parts else []
    for member in parts.values() if channels else ():
        change, run = member.change, member.run
        title = f"{run.name}: {TOPIC_WORDS[change.direction]}"[:LONGEST_TITLE]
        event = {"topic": change.direction, "title": title, "change_key": change.pk}
        _write(event, change.kind, run.tags, channels)


def notify_of_rejection(run: Run, **_: Any) -> None:
    channels = _channels()
    if not channels:
        return
    title = f"{run.host_name}: {TOPIC_WORDS[REJECTED]}"[:LONGEST_TITLE]
    since = timezone.now() - REPEATED
    lately = Notification.objects.filter(topic=REJECTED, title=title, created_at__gt=since)
    notified = set(lately.values_list("channel_id", flat=True))
    event = {"topic": REJECTED, "title": title, "run_id": run.run_id}
    tags = run.document.parsed.get("tags") or {}
    _write(event, REJECTED, tags, [channel for channel in channels if channel.pk not in notified])


def _channels() -> list[NotificationChannel]:
    return list(NotificationChannel.objects.filter(paused=False))


def _write(
    event: Mapping[str, Any],
    kind: str,
    tags: Mapping[str, str],
    channels: Iterable[NotificationChannel],
) -> None:
    is_silence = event["topic"] == FleetChange.Direction.SILENT
    due = timezone.now() + (SILENCE_WAITS if is_silence else timedelta())
    again = _earliest_repeat_by_channel(event["change_key"]) if "change_key" in event else {}
    rows = [
        Notification(
            channel=channel, due_at=_due(channel, max(due, again.get(channel.pk, due))), **event
        )
        for channel in channels
        if _rule_matches(channel, event["topic"], kind, tags)
    ]
    Notification.objects.bulk_create(rows, ignore_conflicts=True)


def _earliest_repeat_by_channel(change_key: int) -> dict[int, datetime]:
    rows = Notification.objects.filter(change_key=change_key).order_by("id")
    return {key: at + REPEATED for key, at in rows.values_list("channel_id", "created_at")}


def _rule_matches(
    channel: NotificationChannel, topic: str, kind: str, tags: Mapping[str, str]
) -> bool:
    if channel.severity > severity_of(topic):
        return False
    if channel.kinds and kind not in channel.kinds:
        return False
    # If a rule has several tags with the same key, one of the tags must match.
    wanted = tags_by_key(channel.tags)
    return all(tags.get(key) in values for key, values in wanted.items())


def _due(channel: NotificationChannel, at: datetime) -> datetime:
    if not channel.daily:
        return at
    digest = datetime.combine(at.date(), DIGEST_AT, at.tzinfo)
    return digest if at < digest else digest + timedelta(days=1)
