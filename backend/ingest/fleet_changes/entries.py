"""What was found of a host becomes part of an entry: of an open one that changed alike, or a new.

Entries are joined and made by one transaction at a time, so that a change of the whole fleet is
one of them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.db import connection

from analysis.over_time.family_changes import Family, fixed_by
from ingest.fleet_changes.described import Described
from notifications.outbox import is_news, notify_of_parts
from store.models import FleetChange, FleetChangeMember

TOGETHER = timedelta(days=35)
"""Between a change and another host's change of the same cause, at most: some hosts are measured
once a month."""

SILENT_TOGETHER = timedelta(days=1)

LOCK = 5_901_219
"""Of the database's advisory locks, the one of who joins or makes entries."""

Member = FleetChangeMember
Kind = FleetChange.Kind

_SETTLE = """
DELETE FROM runs_fleetchange c WHERE id = ANY(%(changes)s)
    AND NOT EXISTS (SELECT FROM runs_fleetchangemember m WHERE m.change_id = c.id);
UPDATE runs_fleetchange c SET
    first_at = (SELECT min(at) FROM runs_fleetchangemember m WHERE m.change_id = c.id),
    last_at = (SELECT max(at) FROM runs_fleetchangemember m WHERE m.change_id = c.id),
    fixed_at = CASE WHEN NOT EXISTS (
        SELECT FROM runs_fleetchangemember m WHERE m.change_id = c.id AND m.ended_at IS NULL
    ) THEN (SELECT max(ended_at) FROM runs_fleetchangemember m WHERE m.change_id = c.id) END,
    stale = true
WHERE id = ANY(%(changes)s);
SELECT id FROM runs_fleetchange c WHERE id = ANY(%(changes)s) AND (
    SELECT count(*) FROM (
        SELECT FROM runs_fleetchangemember m WHERE m.change_id = c.id LIMIT %(most)s
    ) m
) < %(most)s
"""

COUNTED_AT_ONCE = 200
"""Members of an entry that are counted whenever it changes; more by the next sweep."""

CPUS_NAMED = 10
"""Of an entry those that most of its hosts have."""

_COUNT = """
UPDATE runs_fleetchange c SET stale = false, hosts = n.hosts, open_hosts = n.open_hosts,
    confirmed = n.confirmed, effects = coalesce(e.effects, '[]'), cpus = coalesce(p.cpus, '[]')
FROM (
    SELECT change_id, count(*) AS hosts, count(*) FILTER (WHERE is_open) AS open_hosts,
        bool_or(confirmed) AS confirmed
    FROM (
        SELECT change_id, host_id, bool_or(ended_at IS NULL) AS is_open,
            bool_or(confirmed) AS confirmed
        FROM runs_fleetchangemember WHERE change_id = ANY(%(changes)s) GROUP BY 1, 2
    ) of_hosts GROUP BY 1
) n LEFT JOIN (
    SELECT change_id, jsonb_agg(jsonb_build_array(tool, family, hosts, ratio, lowest, highest,
        series, agreeing) ORDER BY tool DESC, family) AS effects
    FROM (
        SELECT change_id, tool, family, count(*) AS hosts,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio) AS ratio, min(ratio) AS lowest,
            max(ratio) AS highest, sum(series) AS series, sum(agreeing) AS agreeing
        FROM runs_fleetchangemember
        WHERE change_id = ANY(%(changes)s) AND ratio IS NOT NULL GROUP BY 1, 2, 3
    ) of_families GROUP BY 1
) e USING (change_id) LEFT JOIN (
    SELECT change_id, jsonb_agg(jsonb_build_array(label, hosts, ratio) ORDER BY place) AS cpus
    FROM (
        SELECT change_id, label, count(*) AS hosts,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio) AS ratio,
            row_number() OVER (PARTITION BY change_id ORDER BY count(*) DESC, label) AS place
        FROM (
            SELECT change_id, m.host_id,
                percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio) AS ratio,
                (array_agg(v.label ORDER BY m.at DESC))[1] AS label
            FROM runs_fleetchangemember m
            JOIN runs_run r ON r.id = coalesce(m.first_run_id, m.good_run_id)
            JOIN runs_environment e ON e.id = r.environment_id
            JOIN runs_dimensionvalue v ON v.id = e.cpu_id
            WHERE change_id = ANY(%(changes)s) GROUP BY 1, 2
        ) of_hosts GROUP BY 1, 2
    ) of_cpus WHERE place <= %(cpus)s GROUP BY 1
) p USING (change_id)
WHERE c.id = n.change_id
"""


def lock_entries() -> None:
    """From here to the end of the transaction nobody else joins or makes entries."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def settle(changes: Collection[int]) -> None:
    """Bring these entries in line with their members; delete empty ones.

    Of large ones only times and ends: their hosts and families are counted by the next sweep.
    """
    if not changes:
        return
    with connection.cursor() as cursor:
        cursor.execute(_SETTLE, {"changes": sorted(changes), "most": COUNTED_AT_ONCE})
        while cursor.nextset():
            pass
        small = [pk for (pk,) in cursor.fetchall()]
    count_members(small)


def count_members(changes: Sequence[int]) -> None:
    """Count hosts and families of these entries."""
    if changes:
        with connection.cursor() as cursor:
            cursor.execute(_COUNT, {"changes": list(changes), "cpus": CPUS_NAMED})


def count_stale() -> None:
    """Count what changed in large entries since."""
    stale = FleetChange.objects.filter(stale=True).values_list("pk", flat=True)
    for pk in list(stale.order_by("pk")[:COUNTED_AT_ONCE]):
        count_members([pk])


def record(
    host_pk: int,
    found: Sequence[Described],
    *,
    heard: Collection[Family] | None,
    ended: tuple[int, datetime] | None,
) -> None:
    """Store what was found of a host, in the caller's transaction.

    `heard` None: it is all there is to find in its history, so that what is stored beside it goes.
    Else the run that shows it says something of these families (`host_state.heard_of`), and what
    one run before had suggested of them goes unless this one confirms it. What rests on a run that
    was deleted because it was old stays. `ended`: key and start of the run that ended its silence.
    """
    lock_entries()
    touched: set[int] = set()
    stored = list(Member.objects.filter(host=host_pk).select_related("change").order_by("at", "id"))
    if ended is not None:
        for one in stored:
            if one.change.kind == Kind.SILENT and one.ended_at is None:
                touched.add(one.change_id)
                if ended[1] <= one.at:  # its run came late: it was not silent
                    one.delete()
                    continue
                one.ended_run_id, one.ended_at = ended
                one.save(update_fields=["ended_run", "ended_at"])
    candidates = [one for one in stored if one.change.kind != Kind.SILENT and one.first_run_id]
    kept = set()
    certain = {one.change_id for one in stored if one.confirmed}
    news = []
    for described in found:
        same = _same(described, candidates)
        if same and same.change.cause != described.cause and not _is_decided(same.change):
            touched.add(same.change_id)
            same.delete()
            same = None
        member = same or _join(host_pk, described)
        _fill(member, described)
        member.save()
        if member.confirmed and member.change_id not in certain and is_news(described.seen_at):
            news.append(member)
        kept.add(member.pk)
        touched.add(member.change_id)
    gone = [one for one in candidates if one.pk not in kept and _is_over(one, heard)]
    touched |= {one.change_id for one in gone}
    Member.objects.filter(pk__in=[one.pk for one in gone]).delete()
    settle(touched | _end_those_taken_back(host_pk))
    notify_of_parts(news)


def forget_host(host_pk: int) -> None:
    """Take a host without runs out of every entry: its page is gone."""
    lock_entries()
    members = Member.objects.filter(host=host_pk)
    changes = set(members.values_list("change_id", flat=True))
    members.delete()
    settle(changes)


def _is_decided(change: FleetChange) -> bool:
    """Whether an editor has said something of it, which later runs do not take apart."""
    return change.status != FleetChange.Status.NEW or bool(change.note)


def _is_over(member: Member, heard: Collection[Family] | None) -> bool:
    return heard is None or (not member.confirmed and _family(member) in heard)


def _family(member: Member) -> Family:
    return f"{member.tool} {member.family}".strip()


def _same(described: Described, stored: Iterable[Member]) -> Member | None:
    """The same change as it was found before: at the same run, or as one run suggested it."""
    alike = [one for one in stored if _what(one) == described.what]
    return next(
        (one for one in alike if one.first_run_id == described.first_run),
        next((one for one in alike if not one.confirmed), None),
    )


def _what(member: Member) -> tuple[str, ...]:
    change = member.change
    return (change.kind, change.direction, _family(member), member.before, member.after)


def _join(host_pk: int, described: Described) -> Member:
    """A part of an entry of the same cause within days. Of an unknown cause: of this host alone."""
    alike = {"kind": described.kind, "direction": described.direction, "cause": described.cause}
    of_host = {} if described.cause else {"members__host": host_pk}
    return Member(change=_entry(described.at, TOGETHER, alike, **of_host), host_id=host_pk)


def _entry(at: datetime, within: timedelta, alike: Mapping[str, str], **of: int) -> FleetChange:
    """The latest open entry like this near that time, with such a part (`of`), or a new one."""
    entries = FleetChange.objects.filter(
        fixed_at=None, first_at__lte=at + within, last_at__gte=at - within, **alike, **of
    )
    found = entries.order_by("-last_at", "-id").first()
    return found or FleetChange.objects.create(first_at=at, last_at=at, **alike)


def _fill(member: Member, described: Described) -> None:
    member.tool, _, member.family = described.family.partition(" ")
    member.before, member.after = described.verdicts
    member.confirmed = described.confirmed
    member.at, member.good_at = described.at, described.good_at
    member.first_run_id, member.good_run_id = described.first_run, described.good_run
    member.differences = list(described.differences)
    if described.size is not None:
        member.ratio, member.example = described.size.ratio, described.example
        member.series, member.agreeing = described.size.series, described.size.agreeing


def _end_those_taken_back(host_pk: int) -> set[int]:
    """Note which changes of a host later ones took back; the entries concerned."""
    members = Member.objects.filter(host=host_pk).exclude(change__kind=Kind.SILENT)
    histories: defaultdict[tuple[str, str], list[Member]] = defaultdict(list)
    for one in members.order_by("at", "id"):
        histories[one.tool, one.family].append(one)
    touched = set()
    for history in histories.values():
        for one, by in zip(history, _taken_back(history), strict=True):
            ended = (by.first_run_id, by.at) if by else (None, None)
            if ended != (one.ended_run_id, one.ended_at):
                one.ended_run_id, one.ended_at = ended
                one.save(update_fields=["ended_run", "ended_at"])
                touched.add(one.change_id)
    return touched


def _taken_back(history: Sequence[Member]) -> list[Member | None]:
    if history[0].ratio is not None:
        found = fixed_by([one.ratio or 1.0 for one in history])
        return [None if by is None else history[by] for by in found]
    return [
        next((later for later in history[at + 1 :] if later.after == one.before), None)
        for at, one in enumerate(history)
    ]


def add_silent(host_pk: int, good_run: int | None, good_at: datetime, at: datetime) -> None:
    """A host that sent no run for too long, since `at`."""
    silent = {"kind": Kind.SILENT, "direction": FleetChange.Direction.SILENT}
    change = _entry(at, SILENT_TOGETHER, silent)
    member = Member.objects.create(
        change=change, host_id=host_pk, confirmed=True, at=at, good_at=good_at, good_run_id=good_run
    )
    settle([change.pk])
    if is_news(at):
        notify_of_parts([member])
