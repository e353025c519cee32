"""Looking for changes: in each run as it is stored, and in the whole history of a host again."""

import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from analysis.ciphers.cipher_catalogue import family_of_series
from analysis.over_time.family_changes import Family
from documents.environment import libraries
from documents.types import RunDocument
from ingest.fleet_changes.described import describe
from ingest.fleet_changes.entries import add_silent, forget_host, lock_entries, record
from ingest.fleet_changes.host_state import RULES, ArrivedRun, Finding, HostState, heard_of
from store.models import FleetChange, FleetChangeMember, HostWatch, Measurement, Run, Series
from store.models.run import COUNTED
from store.outage import UNREACHABLE
from store.statements import fetch_rows

logger = logging.getLogger(__name__)

PORTION = 100
"""Runs of one host that are read at once."""

_LOOK = f"""
SELECT w.host_id IS NOT NULL, w.due, w.state, w.last_at,
    EXISTS (SELECT FROM runs_run r WHERE r.host_id = %(host)s AND r.id <> %(run)s AND {COUNTED}),
    EXISTS (SELECT FROM runs_fleetchangemember m JOIN runs_fleetchange c ON c.id = m.change_id
        WHERE m.host_id = %(host)s
            AND (NOT m.confirmed OR c.kind = 'silent' AND m.ended_at IS NULL))
FROM runs_run n LEFT JOIN runs_hostwatch w ON w.host_id = n.host_id
WHERE n.id = %(run)s AND NOT n.hidden
"""  # noqa: S608 - constants

_KEEP = """
INSERT INTO runs_hostwatch (host_id, state, last_at, silent_after)
VALUES (%(host)s, %(state)s, %(last_at)s, %(silent_after)s)
ON CONFLICT (host_id) DO UPDATE SET state = EXCLUDED.state, last_at = EXCLUDED.last_at,
    silent_after = EXCLUDED.silent_after
"""

_MARK_DUE = """
INSERT INTO runs_hostwatch (host_id, due)
SELECT id, 1 FROM runs_host WHERE id = ANY(%s) AND NOT published ORDER BY id
ON CONFLICT (host_id) DO UPDATE SET due = runs_hostwatch.due + 1
"""

_RUNS = f"""
SELECT r.id, r.started_at, r.source, r.conditions <> '[]'::jsonb, r.environment_id, r.acceleration,
    json_build_object('openssl', o.label, 'ssh', coalesce(l.label, o.label))::text,
    m.series, m.medians
FROM (
    SELECT * FROM runs_run r
    WHERE r.host_id = %(host)s AND {COUNTED} AND r.environment_id IS NOT NULL
        AND (r.started_at, r.id) > (%(at)s, %(run)s)
    ORDER BY r.started_at, r.id LIMIT {PORTION}
) r
CROSS JOIN LATERAL (
    SELECT array_to_json(array_agg(series_id))::text AS series,
        array_to_json(array_agg(median))::text AS medians
    FROM runs_measurement WHERE run_id = r.id AND median IS NOT NULL
) m
JOIN runs_environment e ON e.id = r.environment_id
JOIN runs_dimensionvalue o ON o.id = e.openssl_id
LEFT JOIN runs_dimensionvalue l ON l.id = e.ssh_library_id
ORDER BY r.started_at, r.id
"""  # noqa: S608 - constants


def mark_due(host_pks: Collection[int]) -> None:
    """Have changes of these hosts found again as a whole, by the next sweep."""
    with connection.cursor() as cursor:
        cursor.execute(_MARK_DUE, [sorted(host_pks)])


def watch_new_run(host_pk: int, run: ArrivedRun, families: Mapping[int, Family]) -> None:
    """Look for changes in a run that the caller's transaction has just stored.

    If it is its host's latest; one that belongs further back makes the host due, and so does the
    first one after an update that changed the rules. `families`: of its series that count.
    """
    rows = fetch_rows(_LOOK, {"host": host_pk, "run": run.key})
    if not rows:
        return
    watched, due, text, last_at, others, unsettled = rows[0]
    state = HostState.read(text or "")
    belongs_further_back = last_at is not None and run.at <= last_at
    if due or (not watched and others) or belongs_further_back or state.rules != RULES:
        mark_due([host_pk])
        return
    findings = state.take_in(run, families)
    _keep(host_pk, state, run.at)
    if findings or unsettled:
        heard = heard_of(run, families)
        record(host_pk, describe(findings, families), heard=heard, ended=(run.key, run.at))


def watch_run(run: Run, document: RunDocument, rows: Sequence[Measurement]) -> None:
    """Look for changes in a run that the caller's transaction has just stored with these rows."""
    if run.host_id is None or run.environment_id is None or run.started_at is None:
        return
    if run.source == Run.Source.PUBLISHED:
        return
    families = {
        row.series_id: family
        for row, measurement in zip(rows, document.measurements, strict=True)
        if row.median is not None and (family := family_of_series(measurement.series))
    }
    arrived = ArrivedRun(
        key=run.pk,
        at=run.started_at,
        expected_again=run.source == Run.Source.AGENT,
        disturbed=bool(run.conditions),
        environment=run.environment_id,
        verdict=run.acceleration,
        libraries=libraries(document.environment),
        rates={row.series_id: row.median for row in rows if row.median is not None},
    )
    watch_new_run(run.host_id, arrived, families)


def _keep(host_pk: int, state: HostState, last_at: datetime | None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            _KEEP,
            {
                "host": host_pk,
                "state": state.text(),
                "last_at": last_at,
                "silent_after": state.silent_after(),
            },
        )


def find_again(host_pk: int) -> bool:
    """Find the changes of a host's whole history; False when something came between.

    Nothing is locked while its runs are read.
    """
    due = HostWatch.objects.filter(host=host_pk).values_list("due", flat=True).first()
    if due is None:
        return True
    state = HostState()
    families: dict[int, Family] = {}
    findings: list[Finding] = []
    last: ArrivedRun | None = None
    ended: tuple[int, datetime] | None = None
    silent_since = _silent_since(host_pk)
    for run, of_run in _history(host_pk):
        families |= of_run
        heard = heard_of(run, of_run)
        findings = [one for one in findings if one.confirmed or one.family not in heard]
        findings += state.take_in(run, of_run)
        last = run
        if ended is None and silent_since is not None and run.at > silent_since:
            ended = (run.key, run.at)
    described = describe(findings, families)
    with transaction.atomic():
        watch = HostWatch.objects.select_for_update().filter(host=host_pk, due=due).first()
        if watch is None:
            return False
        _keep(host_pk, state, last.at if last else None)
        if Run.objects.filter(host=host_pk, status=Run.Status.READY, hidden=False).exists():
            record(host_pk, described, heard=None, ended=ended)
        else:
            forget_host(host_pk)
        HostWatch.objects.filter(host=host_pk).update(due=0)
    return True


def _silent_since(host_pk: int) -> datetime | None:
    """When a host that is listed as silent sent its last run; None for others."""
    silent = FleetChangeMember.objects.filter(
        host=host_pk, change__kind=FleetChange.Kind.SILENT, ended_at=None
    )
    return silent.values_list("good_at", flat=True).first()


def _history(host_pk: int) -> Iterator[tuple[ArrivedRun, dict[int, Family]]]:
    """The runs of a host that count, the oldest first, with the families of their series."""
    at, key = datetime.min.replace(tzinfo=UTC), 0
    known: dict[int, Family | None] = {}
    while rows := fetch_rows(_RUNS, {"host": host_pk, "at": at, "run": key}):
        for row in rows:
            at, key = row[1], row[0]
            run = _arrived(row)
            _look_up(run.rates.keys() - known.keys(), known)
            yield run, {one: family for one in run.rates if (family := known[one])}


def _arrived(row: tuple[Any, ...]) -> ArrivedRun:
    key, at, source, disturbed, environment, verdict, libraries, series, medians = row
    rates = zip(json.loads(series or "[]"), json.loads(medians or "[]"), strict=True)
    return ArrivedRun(
        key=key,
        at=at,
        expected_again=source == Run.Source.AGENT,
        disturbed=disturbed,
        environment=environment,
        verdict=verdict,
        libraries=json.loads(libraries),
        rates=dict(rates),
    )


def _look_up(series: Collection[int], known: dict[int, Family | None]) -> None:
    known.update(dict.fromkeys(series))
    for row in Series.objects.filter(pk__in=series):
        known[row.pk] = family_of_series(row.configuration())


def find_due(until: Callable[[], bool] = lambda: False) -> bool:
    """Find the changes of hosts that are due, one by one; False if some are left.

    `until`: whether it is somebody else's turn.
    """
    tried: set[int] = set()
    due = HostWatch.objects.filter(due__gt=0).order_by("pk")
    while (host := due.exclude(pk__in=tried).values_list("pk", flat=True).first()) is not None:
        if until():
            return False
        try:
            if not find_again(host):
                tried.add(host)
        except UNREACHABLE:
            raise
        except Exception:
            logger.exception("changes of host %d cannot be found", host)
            HostWatch.objects.filter(pk=host).update(due=0)
    return not tried


def find_silent(now: datetime | None = None) -> int:
    """Note the hosts that have been silent for too long by now; how many."""
    late = HostWatch.objects.filter(silent_after__lt=now or timezone.now(), due=0)
    if not late.exists():
        return 0
    with transaction.atomic():
        lock_entries()
        hosts = list(late.select_for_update(skip_locked=True).order_by("silent_after", "pk"))
        for watch in hosts:
            _note_silence(watch)
    return len(hosts)


def _note_silence(watch: HostWatch) -> None:
    latest = Run.objects.filter(host=watch.host_id, status=Run.Status.READY, hidden=False)
    run = latest.filter(started_at__isnull=False).order_by("-started_at", "-id").first()
    if run is not None and run.started_at is not None and watch.silent_after is not None:
        add_silent(watch.host_id, run.pk, run.started_at, watch.silent_after)
    HostWatch.objects.filter(pk=watch.pk).update(silent_after=None)
