"""What a notification says, as the entry is when it is sent."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from django.conf import settings
from django.urls import reverse

from notifications.messages import Notice
from results.hosts.fleet_changes import Effect, FleetChangeSummary, summaries_of_changes
from store.models import FleetChange, Notification, Run
from store.models.notification import TEST, TOPIC_WORDS, severity_of

KNOWN = (FleetChange.Status.ACKNOWLEDGED, FleetChange.Status.IGNORED)
"""Somebody has looked already."""

MOST_EFFECTS = 6
LONGEST_REASON = 500


def site_url(path: str) -> str:
    """The address of a page, as people outside reach it."""
    return f"{settings.CIPHERMARK_SITE_URL}{path}"


def notices_of(rows: Sequence[Notification]) -> dict[int, Notice]:
    """Key of the row -> what it says; without those whose entry is gone or of no matter."""
    changes = FleetChange.objects.filter(pk__in=[one.change_key for one in rows if one.change_key])
    entries = {one.id: one for one in summaries_of_changes(list(changes))}
    runs = Run.objects.in_bulk([one.run_id for one in rows if one.run_id], field_name="run_id")
    found = {row.pk: _notice(row, entries, runs) for row in rows}
    return {key: notice for key, notice in found.items() if notice is not None}


def _notice(
    row: Notification, entries: Mapping[int, FleetChangeSummary], runs: Mapping[object, Run]
) -> Notice | None:
    if row.topic == TEST:
        facts: tuple[str, ...] = ("This is a test. It was asked for on the notifications page.",)
        return _made(row, facts, reverse("notifications"))
    if row.change_key is None:
        run = runs.get(row.run_id)
        if run is None or run.status != Run.Status.REJECTED:
            return None
        facts = (run.rejection[:LONGEST_REASON], f"Received {_utc(run.received_at)}")
        return _made(row, facts, reverse("run-page", args=[run.run_id]))
    entry = entries.get(row.change_key)
    if entry is None or entry.status in KNOWN:
        return None
    if entry.kind == FleetChange.Kind.SILENT and entry.fixed_at:
        return None
    if entry.hosts > 1:
        row.title = f"{entry.hosts} hosts: {TOPIC_WORDS[row.topic]}"
    return _made(row, tuple(_facts(entry)), reverse("change-page", args=[entry.id]))


def _made(row: Notification, facts: tuple[str, ...], address: str) -> Notice:
    return Notice(row.title, facts, site_url(address), severity_of(row.topic))


def _facts(entry: FleetChangeSummary) -> Iterable[str]:
    members = entry.members
    if entry.hosts > 1:
        more = entry.hosts - len(members)
        names = ", ".join(one.name for one in members) + (f" and {more} more" if more else "")
        yield f"Hosts: {names}"
    if entry.kind == FleetChange.Kind.VERDICT and members:
        yield f"AES verdict: {members[0].before} → {members[0].after}"
    largest = sorted(entry.effects, key=lambda one: -abs(one.ratio - 1))
    yield from (_effect(one) for one in largest[:MOST_EFFECTS])
    if len(largest) > MOST_EFFECTS:
        yield f"and {len(largest) - MOST_EFFECTS} more cipher families"
    if entry.kind == FleetChange.Kind.SILENT:
        if members and members[0].good_at:
            yield f"Last run {_utc(members[0].good_at)}"
    else:
        yield _cause(entry)
        yield f"First changed run {_utc(entry.first_at)}"
    if entry.fixed_at:
        yield f"As before since {_utc(entry.fixed_at)}"


def _cause(entry: FleetChangeSummary) -> str:
    if entry.contradicted:
        return f"No likely cause: {entry.contradicted} changed nothing on other hosts"
    return f"What differs: {entry.cause or 'nothing that the runs state'}"


def _effect(one: Effect) -> str:
    word = "slower" if one.ratio < 1 else "faster"
    return f"{one.tool} {one.family}: {abs(1 - one.ratio):.0%} {word}"


def _utc(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
