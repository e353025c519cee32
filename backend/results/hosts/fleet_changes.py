"""What changed in the fleet, as found when runs were processed: entries, and how sure they are."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, Literal, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Greatest

from documents.naming import tags_by_key
from results.hosts.unaffected_hosts import unaffected_hosts
from store.models import FleetChange, FleetChangeMember
from store.models.run import COUNTED
from store.statements import fetch_rows, one_moment

KINDS = tuple(FleetChange.Kind.values)
DIRECTIONS = tuple(FleetChange.Direction.values)
FIXED = "fixed"
STATUSES = (*FleetChange.Status.values, FIXED)

HOSTS_OF_A_LIST, HOSTS_OF_AN_ENTRY = 5, 200
"""Hosts that are named: the latest."""

OPEN_ON_A_PAGE = 10

AGREEMENT = 0.8
"""The share of a family's series that must agree where the confidence is high."""

SEVERAL_SERIES = 3
"""Of a speed: fewer have nobody to agree with."""

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class ChangeQuery:
    """Which entries: each filter with any of its values, empty for all; of tags as of runs."""

    kinds: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Effect:
    """What became of one cipher family: after / before, of several hosts the median.

    `lowest` and `highest` are those of single hosts.
    """

    tool: str
    family: str
    hosts: int
    ratio: float
    lowest: float
    highest: float
    series: int
    agreeing: int
    example: int | None = None
    """The number of a series of a single host that shows it."""


class CpuOfChange(NamedTuple):
    """How many hosts of an entry have this CPU; after / before, their median, of a speed."""

    cpu: str
    hosts: int
    ratio: float | None = None


@dataclass(frozen=True)
class ChangedHost:
    """One host's part; of a silent host `first_run_id` is None, and `at` when it should have sent.

    `good_run_id` is the last run as before, `ended_at` when it was as before again.
    """

    id: int
    host: str
    name: str
    at: datetime
    good_at: datetime | None
    good_run_id: UUID | None
    first_run_id: UUID | None
    ended_at: datetime | None
    ended_run_id: UUID | None
    confirmed: bool
    before: str
    after: str
    differences: tuple[str, ...]
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class FleetChangeSummary:
    """An entry; `hosts` are all of them, `members` the latest that are named here.

    `cpus`: those that most of the hosts have. `cause`: the likeliest, empty where none is known.
    `contradicted`: what it would be, had not as many other hosts, `unaffected`, kept their speed
    with the same change of their environment.
    """

    id: int
    kind: str
    direction: str
    status: str
    cause: str
    first_at: datetime
    last_at: datetime
    fixed_at: datetime | None
    note: str
    decided_by: str
    decided_at: datetime | None
    hosts: int
    open_hosts: int
    confidence: Confidence
    effects: tuple[Effect, ...]
    cpus: tuple[CpuOfChange, ...]
    members: tuple[ChangedHost, ...]
    contradicted: str
    unaffected: int


def select_changes(query: ChangeQuery) -> QuerySet[FleetChange]:
    """The entries that pass, the newest first."""
    entries = FleetChange.objects.order_by("-last_at", "-id")
    if query.kinds:
        entries = entries.filter(kind__in=query.kinds)
    if query.directions:
        entries = entries.filter(direction__in=query.directions)
    if query.statuses:
        entries = entries.filter(_status(query.statuses))
    if query.since is not None:
        entries = entries.filter(Q(last_at__gte=query.since) | Q(fixed_at__gte=query.since))
    if query.until is not None:
        entries = entries.filter(first_at__lte=query.until)
    members = select_members(query)
    if members is not None:
        entries = entries.filter(Exists(members.filter(change=OuterRef("pk"))))
    return entries


def hosts_by_direction(since: datetime) -> dict[str, int]:
    """Of the entries since then that nobody ignores: hosts of each direction, as `DIRECTIONS`."""
    entries = FleetChange.objects.filter(last_at__gte=since).exclude(
        status=FleetChange.Status.IGNORED
    )
    found = dict(
        entries.order_by().values_list("direction").annotate(all_hosts=Sum(Greatest("hosts", 1)))
    )
    return {one: found[one] for one in DIRECTIONS if one in found}


def runs_and_hosts(since: datetime) -> tuple[int, int, int]:
    """How many runs that count began since then, on how many hosts, and of how many: what was
    looked at.
    """
    select = f"""
        SELECT count(*), count(DISTINCT r.host_id),
            (SELECT count(*) FROM runs_host h WHERE NOT published
                AND EXISTS (SELECT FROM runs_run r WHERE r.host_id = h.id AND {COUNTED}))
        FROM runs_run r WHERE {COUNTED} AND r.source <> 'published' AND r.started_at >= %s
    """  # noqa: S608 - a constant
    ((runs, hosts, known),) = fetch_rows(select, [since])
    return int(runs), int(hosts), int(known)


def _status(statuses: Iterable[str]) -> Q:
    stated = [one for one in statuses if one != FIXED]
    found = Q(status__in=stated, fixed_at=None)
    return found | Q(fixed_at__isnull=False) if FIXED in statuses else found


def select_members(query: ChangeQuery) -> QuerySet[FleetChangeMember] | None:
    """The parts of hosts that pass; None where all do."""
    found = Q()
    if query.hosts:
        found &= Q(host__slug__in=query.hosts)
    if query.tools:
        found &= Q(tool__in=query.tools)
    if query.families:
        within = Q()
        for family in query.families:
            within |= Q(family=family) | Q(family__startswith=f"{family}-")
        found &= within
    for key, values in tags_by_key(query.tags).items():
        of_runs = Q()
        for value in values:
            of_runs |= Q(first_run__tags__contains={key: value})
            of_runs |= Q(first_run=None, good_run__tags__contains={key: value})
        found &= of_runs
    return FleetChangeMember.objects.filter(found) if found else None


_MEMBERS = """
SELECT latest.change_id, h.id, h.slug, h.name, m.at, m.good_at, g.run_id, f.run_id, m.ended_at,
    e.run_id, m.confirmed, m.before, m.after, m.differences, m.tool, m.family, m.ratio, m.series,
    m.agreeing, m.example
FROM unnest(%s::bigint[]) c (id)
CROSS JOIN LATERAL (
    SELECT change_id, host_id, max(at) AS at FROM (
        SELECT * FROM runs_fleetchangemember m
        WHERE m.change_id = c.id AND m.host_id = coalesce(%s, m.host_id)
        ORDER BY m.at DESC LIMIT %s
    ) m GROUP BY 1, 2 ORDER BY 3 DESC, 2 LIMIT %s
) latest
JOIN runs_fleetchangemember m ON m.change_id = latest.change_id AND m.host_id = latest.host_id
JOIN runs_host h ON h.id = m.host_id
LEFT JOIN runs_run g ON g.id = m.good_run_id
LEFT JOIN runs_run f ON f.id = m.first_run_id
LEFT JOIN runs_run e ON e.id = m.ended_run_id
ORDER BY latest.change_id, latest.at DESC, h.id, m.tool DESC, m.family
"""
"""Parameters: entries; one host alone; what is looked at of an entry with very many; hosts."""

PARTS_OF_A_HOST = 40
"""Families of both tools, at most, for that bound."""


def summaries_of_changes(
    entries: Sequence[FleetChange], hosts: int = HOSTS_OF_A_LIST
) -> list[FleetChangeSummary]:
    """The entries with what they are about; the number of queries is the same for any number."""
    members = _members([one.pk for one in entries], hosts)
    unaffected = unaffected_hosts(entries)
    return [_summary(one, members.get(one.pk, ()), unaffected.get(one.pk, 0)) for one in entries]


def change_detail(change_pk: int) -> FleetChangeSummary | None:
    """One entry with its hosts."""
    found = FleetChange.objects.filter(pk=change_pk)
    return next(iter(summaries_of_changes(list(found), HOSTS_OF_AN_ENTRY)), None)


def open_changes_of(host_pk: int) -> list[FleetChangeSummary]:
    """What is new or acknowledged of a host and not fixed, the newest first.

    Effects and `last_at` are those of the host itself.
    """
    open_members = FleetChangeMember.objects.filter(
        host=host_pk, ended_at=None, change=OuterRef("pk")
    )
    entries = FleetChange.objects.filter(Exists(open_members))
    known = entries.exclude(status=FleetChange.Status.IGNORED)
    newest = list(known.order_by("-last_at", "-id")[:OPEN_ON_A_PAGE])
    members = _members([one.pk for one in newest], 1, host_pk)
    unaffected = unaffected_hosts(newest)
    return [
        replace(
            _summary(one, members[one.pk], unaffected.get(one.pk, 0)),
            effects=own.effects,
            last_at=own.at,
        )
        for one in newest
        if one.pk in members  # else it went in between
        for own in members[one.pk]
    ]


class ListedChange(NamedTuple):
    """A host's part of an entry, as far as a history of one of its series shows it too.

    `series` are those of the family; 0 of a change of the AES verdict.
    """

    entry: int
    at: datetime
    slower: bool
    confirmed: bool
    family: str
    series: int


def changes_of_family(host_pk: int, tool: str, family: str) -> list[ListedChange]:
    """What is listed of a host that one series of this family may show, the oldest first."""
    kinds = FleetChange.Kind
    found = FleetChangeMember.objects.filter(
        Q(tool=tool, family=family) | Q(change__kind=kinds.VERDICT), host=host_pk
    ).select_related("change")
    slower = (FleetChange.Direction.SLOWER, FleetChange.Direction.LOST)
    return [
        ListedChange(
            *(one.change_id, one.at, one.change.direction in slower, one.confirmed),
            *(f"{one.tool} {one.family}".strip(), one.series),
        )
        for one in found.order_by("at", "id")
    ]


class _Part(NamedTuple):
    """A row of `_MEMBERS`."""

    change: int
    host_id: int
    host: str
    name: str
    at: datetime
    good_at: datetime | None
    good_run: UUID | None
    first_run: UUID | None
    ended_at: datetime | None
    ended_run: UUID | None
    confirmed: bool
    before: str
    after: str
    differences: Any
    tool: str
    family: str
    ratio: float | None
    series: int
    agreeing: int
    example: int | None


def _members(
    keys: Sequence[int], hosts: int, host_pk: int | None = None
) -> dict[int, tuple[ChangedHost, ...]]:
    rows = fetch_rows(_MEMBERS, [list(keys), host_pk, hosts * PARTS_OF_A_HOST, hosts])
    found: defaultdict[int, list[ChangedHost]] = defaultdict(list)
    parts: Iterable[_Part] = (_Part(*row) for row in rows)
    if host_pk is not None:
        still = (one for one in parts if one.ended_at is None)
        by_age = sorted(still, key=lambda one: (one.change, one.at))
        parts = {(one.change, one.tool, one.family): one for one in by_age}.values()
    for (change, _), of_host in groupby(parts, key=lambda one: (one.change, one.host_id)):
        found[change].append(_member(list(of_host)))
    return {change: tuple(of_change) for change, of_change in found.items()}


def _member(parts: Sequence[_Part]) -> ChangedHost:
    """One host of its parts: the first run that shows any of them, open while one of them is."""
    first = min(parts, key=lambda one: one.at)
    effects = tuple(
        Effect(one.tool, one.family, 1, *3 * (one.ratio,), one.series, one.agreeing, one.example)
        for one in parts
        if one.ratio is not None
    )
    ends = [(one.ended_at, one.ended_run) for one in parts if one.ended_at is not None]
    ended = max(ends, key=lambda one: one[0]) if len(ends) == len(parts) else (None, None)
    return ChangedHost(
        id=first.host_id,
        host=first.host,
        name=first.name,
        at=first.at,
        good_at=first.good_at,
        good_run_id=first.good_run,
        first_run_id=first.first_run,
        ended_at=ended[0],
        ended_run_id=ended[1],
        confirmed=any(one.confirmed for one in parts),
        before=first.before,
        after=first.after,
        differences=_texts(first.differences),
        effects=effects,
    )


def _texts(stored: Any) -> tuple[str, ...]:
    return tuple(json.loads(stored) if isinstance(stored, str) else stored)


def _summary(
    one: FleetChange, members: Sequence[ChangedHost], unaffected: int
) -> FleetChangeSummary:
    effects = tuple(Effect(*row) for row in one.effects)
    hosts = max(one.hosts, len(members))
    contradicted = one.cause if unaffected >= hosts else ""
    return FleetChangeSummary(
        id=one.pk,
        kind=one.kind,
        direction=one.direction,
        status=FIXED if one.fixed_at else one.status,
        cause="" if contradicted else one.cause,
        first_at=one.first_at,
        last_at=one.last_at,
        fixed_at=one.fixed_at,
        note=one.note,
        decided_by=one.decided_by,
        decided_at=one.decided_at,
        hosts=hosts,
        open_hosts=one.open_hosts,
        confidence=_confidence(effects, one.confirmed),
        effects=effects,
        cpus=tuple(CpuOfChange(*row) for row in one.cpus),
        members=tuple(members),
        contradicted=contradicted,
        unaffected=unaffected,
    )


def _confidence(effects: Sequence[Effect], confirmed: bool) -> Confidence:
    if not confirmed:
        return "low"
    series = sum(one.series for one in effects)
    agree = sum(one.agreeing for one in effects) >= AGREEMENT * series
    return "high" if agree and (series >= SEVERAL_SERIES or not effects) else "medium"


COLUMNS = (
    *("change", "kind", "direction", "status", "cause", "host", "host_key", "tool", "family"),
    *("ratio", "series", "agreeing", "confirmed", "verdict_before", "verdict_after"),
    *("first_changed_run", "first_changed_at", "last_good_run", "last_good_at", "fixed_at"),
    *("differences", "note", "decided_by"),
)


def change_rows(query: ChangeQuery) -> Iterator[tuple[str | int | float | bool | None, ...]]:
    """The list as rows of `COLUMNS`, one for each host and family, the newest entry first."""
    members = select_members(query)
    rows = FleetChangeMember.objects.all() if members is None else members
    rows = rows.filter(change__in=select_changes(query).order_by())
    rows = rows.select_related("change", "host", "first_run", "good_run")
    rows = rows.order_by("-change__last_at", "-change_id", "-at", "pk")
    # A cursor that outlived its transaction would be lost behind a pooler.
    with one_moment():
        for entry, affected in groupby(rows.iterator(2000), key=lambda one: one.change):
            unaffected = unaffected_hosts([entry]).get(entry.pk, 0)
            cause = "" if unaffected >= max(entry.hosts, 1) else entry.cause
            yield from (_row(one, cause) for one in affected)


def _row(one: FleetChangeMember, cause: str) -> tuple[str | int | float | bool | None, ...]:
    entry, ended = one.change, one.ended_at
    return (
        *(entry.pk, entry.kind, entry.direction, FIXED if ended else entry.status),
        *(cause, one.host.name, one.host.slug, one.tool, one.family, one.ratio),
        *(one.series, one.agreeing, one.confirmed, one.before, one.after),
        *(_run(one.first_run), _time(one.at), _run(one.good_run), _time(one.good_at)),
        *(_time(ended), "; ".join(one.differences), entry.note, entry.decided_by),
    )


def _run(run: Any) -> str | None:
    return str(run.run_id) if run else None


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
