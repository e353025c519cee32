"""Detect changes in the latest runs of each host, and hosts that no longer upload runs.

Changes of several hosts are stored as one `FleetChange` if the environments of these hosts changed
in the same way.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Count, Exists, Max, Min, OuterRef, Q
from django.utils import timezone

from changes.models import FleetChange, FleetChangeMember
from changes.outbox import is_news, notify_of_parts
from cipherspeed.changes import (
    WINDOW,
    Observation,
    find_steps,
    taken_back,
    verdict_changes,
)
from cipherspeed.cipher_catalogue import cipher_family
from cipherspeed.environment_difference import environment_difference
from cipherspeed.tool_changes import ToolState, tool_state
from core.outage import UNREACHABLE
from hosts.history import EARLIER, recent_upgrade
from runs.models import HostWatch, Measurement, Run, RunDocument

logger = logging.getLogger(__name__)

# Number of latest runs of a host to examine. Changes in earlier runs remain stored.
LATEST_RUNS = 100

# Maximum time between the changes of grouped hosts. Some hosts are measured only once a month.
TOGETHER = timedelta(days=31)

SILENT_TOGETHER = timedelta(days=1)

# A host is silent after 3 times the median gap between its latest runs, but at least 3 days.
SILENT_GAPS, SHORTEST_SILENCE = 3, timedelta(days=3)
LEAST_RUNS, LATEST_TIMES = 3, 9

MOST_DIFFERENCES, LONGEST_WORDS = 12, 300

LOCK = 5_901_219  # number of a PostgreSQL advisory lock

Kind, Direction = FleetChange.Kind, FleetChange.Direction
Member = FleetChangeMember


class _Part(NamedTuple):
    """Represent a change that was detected on one host.

    Parts of a host with equal `kind`, `direction`, `family` and `begins` join the same
    `FleetChange`.
    """

    kind: FleetChange.Kind
    direction: FleetChange.Direction
    family: str
    begins: int  # primary key of the first changed run
    member: Member
    shown_at: datetime  # start of the next run, which confirms the change


def _key(kind: str, direction: str, member: Member) -> tuple[object, ...]:
    return kind, direction, member.run_id, member.tool, member.family


def find_due() -> bool:
    """Detect changes on one host that is due for detection. Return False if no host is due.

    A host is due after its runs have changed. The runs are not locked. If a run changes during the
    detection, the host remains due.
    """
    watch = HostWatch.objects.filter(due_at__isnull=False).order_by("due_at").first()
    if watch is None:
        return False
    try:
        with transaction.atomic():
            _look(watch)
    except UNREACHABLE:
        raise
    except Exception:
        logger.exception("cannot compute changes of host %d", watch.host_id)
        HostWatch.objects.filter(pk=watch.pk, due_at=watch.due_at).update(due_at=None)
    return True


def _look(watch: HostWatch) -> None:
    counted = Run.objects.counted().filter(host=watch.host_id)
    dated = counted.filter(started_at__isnull=False, environment__isnull=False)
    latest = dated.select_related("environment__openssl").order_by("-started_at", "-id")
    runs = list(reversed(latest[:LATEST_RUNS]))
    # If there are more runs, the predecessors of the first ones are missing.
    since = _at(runs[WINDOW]) if len(runs) == LATEST_RUNS else datetime.min.replace(tzinfo=UTC)
    calm = [run for run in runs if not run.conditions]
    parts = [part for part in (*_speeds(calm), *_verdicts(calm)) if part.member.at >= since]
    _lock_entries()
    as_seen = HostWatch.objects.filter(pk=watch.pk, due_at=watch.due_at)
    if as_seen.exists():  # otherwise another worker was faster
        _store(watch.host_id, list(_joined_with_verdicts(parts)), since)
        silent_after = _silent_after([_at(run) for run in runs if run.source == Run.Source.AGENT])
        if _update_silence(watch.host_id, runs, silent_after):
            silent_after = None
        as_seen.update(due_at=None, silent_after=silent_after)


def _at(run: Run) -> datetime:
    assert run.started_at is not None  # noqa: S101 - runs without a date are excluded
    return run.started_at


# Primary key of a series, and for each change of `openssl speed`, whether the release has it.
Key = tuple[int, ToolState]


def _speeds(runs: Sequence[Run]) -> Iterator[_Part]:
    for (tool, family), observed in _observed(runs).items():
        history = [run for run in runs if run.pk in observed]
        steps = find_steps([observed[run.pk] for run in history])
        ends = taken_back([step.ratio for step in steps])
        for step, end in zip(steps, ends, strict=True):
            first = history[step.index]
            middle = min(step.ratios, key=lambda key: abs(step.ratios[key] - step.ratio))
            member = Member(
                run=first,
                previous=history[step.index - 1],
                at=_at(first),
                tool=tool,
                family=family,
                ratio=step.ratio,
                series_count=len(step.ratios),
                series_id=middle[0],
                confidence=Member.Confidence[step.confidence.upper()],
                ended_at=None if end is None else history[steps[end].index].started_at,
            )
            direction = Direction.FASTER if step.ratio > 1 else Direction.SLOWER
            shown_at = _at(history[step.index + 1])
            yield _Part(Kind.SPEED, direction, family.partition("-")[0], first.pk, member, shown_at)


def _observed(
    runs: Sequence[Run],
) -> Mapping[tuple[str, str], Mapping[int, Mapping[Key, Observation]]]:
    """Return `{(tool, family): {run: {(series, tool state): observation}}}` for the runs of a host.

    `run` and `series` are primary keys. Series with disabled AES hardware and series to a remote
    host are excluded.
    """
    releases = {run.pk: run.environment.openssl.label for run in runs if run.environment}
    observations: defaultdict[tuple[str, str], defaultdict[int, dict[Key, Observation]]]
    observations = defaultdict(lambda: defaultdict(dict))
    rows = Measurement.objects.filter(
        run__in=[run.pk for run in runs], median__gt=0, series__acceleration="default"
    ).exclude(series__target_kind="remote")
    for run, series, tool, cipher, rate, spread, seconds in rows.values_list(
        "run_id", "series_id", "series__tool", "series__cipher", "median", "spread", "try_seconds"
    ):
        state = tool_state(releases[run], cipher) if tool == "openssl" else ()
        of_family = observations[tool, cipher_family(tool, cipher)]
        of_family[run][series, state] = Observation(rate or 0.0, spread or 0.0, seconds)
    return observations


def _verdicts(runs: Sequence[Run]) -> Iterator[_Part]:
    known = [run for run in runs if run.acceleration != "unknown"]
    verdicts = [run.acceleration for run in known]
    changes = verdict_changes(verdicts)
    for number, at in enumerate(changes):
        before, after = verdicts[changes[number - 1] if number else 0], verdicts[at]
        direction = Direction.CHANGED
        if "hardware" in (before, after):
            direction = Direction.LOST if before == "hardware" else Direction.REGAINED
        back = [known[later] for later in changes[number + 1 :] if verdicts[later] == before]
        member = Member(
            run=known[at],
            previous=known[at - 1],
            at=_at(known[at]),
            before=before,
            after=after,
            ended_at=back[0].started_at if back else None,
        )
        yield _Part(Kind.VERDICT, direction, "aes", known[at].pk, member, _at(known[at + 1]))


_WITH_VERDICT = {Direction.LOST: Direction.SLOWER, Direction.REGAINED: Direction.FASTER}


def _joined_with_verdicts(parts: Sequence[_Part]) -> Iterator[_Part]:
    """Yield all parts. Merge a change of AES speed into a verdict change in the same runs.

    Example: AES acceleration is lost, and aes-gcm becomes slower. The result is one `FleetChange`.
    """
    verdicts = [part for part in parts if part.kind == Kind.VERDICT]
    for part in parts:
        for verdict in verdicts:
            speed = (Kind.SPEED, _WITH_VERDICT.get(verdict.direction), "aes")
            beside = verdict.member.at <= part.member.at <= verdict.shown_at
            if beside and part[:3] == speed:
                part = _Part(*verdict[:4], part.member, part.shown_at)
        yield part


_FIGURES = ("previous_id", "ratio", "series_count", "series_id", "confidence", "ended_at")


def _store(host: int, parts: Sequence[_Part], since: datetime) -> None:
    """Store the detected changes of a host. Delete members that were not detected again.

    A member is a row of `FleetChangeMember`. A member is kept if it began before `since` or if its
    run is hidden. A member is also kept if an editor has edited the change and no detected part of
    the host belongs to this change.
    """
    of_host = Member.stored.filter(run__host=host).exclude(change__kind=Kind.SILENT)
    members = list(of_host.select_related("change", "run"))
    stored = {_key(row.change.kind, row.change.direction, row): row for row in members}
    new_parts = {_key(part.kind, part.direction, part.member): part for part in parts}
    entries = {part[:4]: stored[key].change for key, part in new_parts.items() if key in stored}
    differences: dict[int, list[str]] = {}
    touched, news = {member.change_id for member in members}, []
    for key, part in new_parts.items():
        member = stored.get(key, part.member)
        changed = [name for name in _FIGURES if getattr(member, name) != getattr(part.member, name)]
        for name in changed:
            setattr(member, name, getattr(part.member, name))
        if member is part.member:
            if part.begins not in differences:
                differences[part.begins] = _differences(host, member, part.begins)
            member.differences = differences[part.begins]
            member.change = entries.setdefault(part[:4], entries.get(part[:4]) or _entry(part))
            if is_news(part.shown_at):
                news.append(member)
        elif not changed:
            continue
        member.save()
        touched.add(member.change_id)
    for key in stored.keys() - new_parts.keys():
        member = stored[key]
        is_decided = member.change.decided_at and member.change not in entries.values()
        if not member.run.hidden and member.at >= since and not is_decided:
            member.delete()
    _update_entries(touched)
    notify_of_parts(news)


def _lock_entries() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def _differences(host: int, member: Member, begins: int) -> list[str]:
    runs = member.previous_id, begins
    documents = RunDocument.objects.in_bulk(runs)
    differences = environment_difference(*(documents[run].environment for run in runs))
    words = [difference.words for difference in differences]
    if not words:
        _, earlier = recent_upgrade(host, member.at)
        when = f"(at most {EARLIER.days} days before the change)"
        words = [f"{each.words} {when}" for each in earlier]
    return [each[:LONGEST_WORDS] for each in words[:MOST_DIFFERENCES]]


def _entry(part: _Part) -> FleetChange:
    words = part.member.differences
    # Kernels change every few weeks, so a kernel counts only if nothing else differs.
    others = [word for word in words if not word.startswith("kernel:")]
    difference = next(iter(others or words), "")
    alike = {"kind": part.kind, "direction": part.direction, "family": part.family}
    return _open_entry(part.member, TOGETHER, difference=difference, **alike)


def _open_entry(member: Member, within: timedelta, difference: str, **alike: str) -> FleetChange:
    """Return the `FleetChange` that the member joins, or create a `FleetChange`.

    `within`: maximum time between the member and the `FleetChange`. `alike`: fields that must be
    equal. If the host is new in the `FleetChange`, the status becomes `new` again.
    """
    at = member.at
    near = FleetChange.objects.filter(
        **alike, difference=difference, first_at__lte=at + within, last_at__gte=at - within
    ).exclude(status=FleetChange.Status.FIXED)
    own = Member.stored.filter(run__host=member.run.host_id)
    # Hosts without an environment difference are not grouped.
    shared = bool(difference) or alike["kind"] == Kind.SILENT
    hidden = own.filter(change=OuterRef("pk"), run__hidden=True)
    entry = near.filter(Q(fixed_at=None) if shared else Exists(hidden)).first()
    if entry is None:
        return FleetChange.objects.create(**alike, difference=difference, first_at=at, last_at=at)
    if not own.filter(change=entry).exists():
        entry.status = FleetChange.Status.NEW
        entry.save(update_fields=["status"])
    return entry


def _update_entries(changes: Collection[int]) -> None:
    for change in FleetChange.objects.filter(pk__in=changes):
        times = change.members.aggregate(
            first=Min("at"),
            last=Max("at"),
            ended=Max("ended_at"),
            open=Count("pk", Q(ended_at=None)),
        )
        if times["first"] is not None:
            change.first_at, change.last_at = times["first"], times["last"]
            change.fixed_at = None if times["open"] else times["ended"]
            change.save(update_fields=["first_at", "last_at", "fixed_at"])
    FleetChange.objects.filter(members=None).delete()


def _silent_after(times: Sequence[datetime]) -> datetime | None:
    latest = times[-LATEST_TIMES:]
    if len(latest) < LEAST_RUNS:
        return None
    gap = median((later - earlier).total_seconds() for earlier, later in pairwise(latest))
    return latest[-1] + max(SILENT_GAPS * timedelta(seconds=gap), SHORTEST_SILENCE)


def _update_silence(host: int, runs: Sequence[Run], silent_after: datetime | None) -> bool:
    """Update or delete the stored silence of a host. Return whether the host is still silent."""
    is_silent = False
    silent = Member.stored.filter(run__host=host, change__kind=Kind.SILENT, ended_at=None)
    for member in silent.select_related("run"):
        back = next((_at(run) for run in runs if _at(run) > _at(member.run)), None)
        if back is not None and back > member.at:
            member.ended_at = back
            member.save()
        elif back is None and silent_after is not None and silent_after < timezone.now():
            member.run, member.at, is_silent = runs[-1], silent_after, True
            member.save()
        else:  # a run arrived late, or earlier runs were deleted
            member.delete()
        _update_entries({member.change_id})
    return is_silent


def find_silent(now: datetime | None = None) -> None:
    for watch in HostWatch.objects.filter(silent_after__lt=now or timezone.now(), due_at=None):
        with transaction.atomic():
            _store_silence(watch)


def _store_silence(watch: HostWatch) -> None:
    _lock_entries()
    counted = Run.objects.counted().filter(host=watch.host_id)
    run = counted.filter(started_at__isnull=False).order_by("-started_at", "-id").first()
    at = watch.silent_after
    as_seen = HostWatch.objects.filter(pk=watch.pk, silent_after=at, due_at=None)
    if run is None or at is None or not as_seen.exists():
        return
    member = Member(run=run, at=at)
    member.change = _open_entry(
        member, SILENT_TOGETHER, "", kind=Kind.SILENT, direction=Direction.SILENT, family=""
    )
    member.save()
    _update_entries({member.change_id})
    if is_news(at):
        notify_of_parts([member])
    as_seen.update(silent_after=None)
