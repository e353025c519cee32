from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from django.conf import settings
from django.urls import reverse

from changes.messages import Notice
from changes.models import FleetChange, FleetChangeMember, Notification
from changes.models.notification import TEST, TOPIC_WORDS, severity_of
from cipherspeed.choices import TOOL_NAMES
from core.formatting import percent
from runs.models import Run

MOST_MEMBERS = 10
LONGEST_REASON = 500


def site_url(path: str) -> str:
    return f"{settings.CIPHERMARK_SITE_URL}{path}"


def notices_of(rows: Sequence[Notification]) -> dict[int, Notice]:
    """Return the notices to send, by primary key of the notification.

    Notifications that are no longer relevant are omitted, for example if the change was deleted or
    an editor has acknowledged the change.
    """
    changes = FleetChange.objects.listed().with_members(MOST_MEMBERS)
    entries = changes.in_bulk([row.change_key for row in rows if row.change_key])
    runs = Run.objects.in_bulk([row.run_id for row in rows if row.run_id], field_name="run_id")
    notices = {row.pk: _notice(row, entries, runs) for row in rows}
    return {key: notice for key, notice in notices.items() if notice is not None}


def _notice(
    row: Notification, entries: Mapping[int, FleetChange], runs: Mapping[object, Run]
) -> Notice | None:
    if row.topic == TEST:
        facts: tuple[str, ...] = ("This is a test message from the notifications page.",)
        return _made(row, facts, reverse("notifications"))
    if row.change_key is None:
        run = runs.get(row.run_id)
        if run is None or run.status != Run.Status.REJECTED:
            return None
        facts = (run.rejection[:LONGEST_REASON], f"Received: {_utc(run.received_at)}")
        return _made(row, facts, reverse("run-page", args=[run.run_id]))
    change = entries.get(row.change_key)
    # An editor has set a status, or the host has uploaded again.
    looked = change is None or change.status != FleetChange.Status.NEW
    if change is None or looked or (change.kind == FleetChange.Kind.SILENT and change.fixed_at):
        return None
    members = list(getattr(change, "named", ()))
    hosts = len({member.run.host_id for member in members})
    more = getattr(change, "hosts", hosts)
    if more > 1:
        row.title = f"{more} hosts: {TOPIC_WORDS[row.topic]}"
    facts = tuple(_facts(change, members, more - hosts))
    return _made(row, facts, reverse("change-page", args=[change.pk]))


def _made(row: Notification, facts: tuple[str, ...], address: str) -> Notice:
    return Notice(row.title, facts, site_url(address), severity_of(row.topic))


def _facts(change: FleetChange, members: Sequence[FleetChangeMember], more: int) -> Iterable[str]:
    names = list(dict.fromkeys(member.run.host.name for member in members if member.run.host))
    if len(names) > 1:
        yield f"Hosts: {', '.join(names)}" + (f" and {more} more" if more else "")
    first = members[0]
    if change.kind == FleetChange.Kind.SILENT:
        if first.run.started_at:
            yield f"Last run: {_utc(first.run.started_at)}"
        return
    for member in members:
        if member.run_id == first.run_id:
            yield _words(member)
    difference = change.difference
    yield f"Differences: {difference}" if difference else "No environment change recorded"
    yield f"First changed run: {_utc(change.first_at)}"
    if change.fixed_at:
        yield f"Back to normal since {_utc(change.fixed_at)}"


def _words(member: FleetChangeMember) -> str:
    if member.ratio is None:
        return f"AES verdict: {member.before} → {member.after}"
    word = "slower" if member.ratio < 1 else "faster"
    return f"{TOOL_NAMES[member.tool]} {member.family}: {percent(abs(1 - member.ratio))} {word}"


def _utc(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
