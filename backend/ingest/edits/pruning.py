"""Old runs deleted, a bounded batch a transaction, so that uploads go on meanwhile."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from ingest.edits.recompute import recompute_for
from store.models import Host, Run
from store.models.run import COUNTED
from store.processing_lock import wait_for_processing
from store.statements import fetch_rows

BATCH_RUNS = 200
"""Runs of one transaction: some tenths of a second."""

LARGEST_SHARE = 0.1
"""Of all runs, that are deleted without somebody's confirmation."""

_OLD = f"""
SELECT r.id, r.host_id, r.environment_id FROM runs_run r
WHERE coalesce(r.started_at, r.received_at) < %(before)s AND r.id > %(after)s
    AND r.status <> 'accepted' AND r.source <> 'published'
    AND NOT (%(keep_latest)s AND {COUNTED} AND EXISTS (
        SELECT FROM runs_measurement m WHERE m.run_id = r.id AND m.median IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM runs_run l JOIN runs_measurement n ON n.run_id = l.id
            WHERE (l.host_id, l.environment_id, l.source, l.tags, n.series_id)
                = (r.host_id, r.environment_id, r.source, r.tags, m.series_id)
            AND l.status = 'ready' AND NOT l.hidden AND n.median IS NOT NULL
            AND (coalesce(l.started_at, '-infinity'), l.id)
                > (coalesce(r.started_at, '-infinity'), r.id)
        )
    ))
ORDER BY r.id
"""  # noqa: S608 - constants
"""By their start, else their arrival. Never those that wait for the worker or published
figures. A latest result is that of its series under one host, environment, source and tags: a
filter by any of them finds it afterwards as before."""


class Old(NamedTuple):
    """Which runs are old, and whether a host keeps its latest result of each series."""

    before: datetime
    keep_latest: bool = True


class PruningStopped(Exception):
    """So many runs are old that the clock may be wrong; says what to do."""


def older_than(days: int, *, keep_latest: bool = True) -> Old:
    """Count the age from now or from the newest received run, whichever is earlier.

    So a clock that is ahead makes no run old.
    """
    now = timezone.now()
    newest = Run.objects.aggregate(newest=Max("received_at"))["newest"] or now
    return Old(min(now, newest) - timedelta(days=days), keep_latest)


def refuse_too_many(old: Old) -> None:
    """Raise `PruningStopped` where more than a tenth of all runs would go."""
    count, all_runs = count_old(old), Run.objects.count()
    if count > all_runs * LARGEST_SHARE:
        raise PruningStopped(
            f"{count} of {all_runs} runs began before {old.before:%Y-%m-%d}, more than a tenth: "
            "nothing was deleted. If that is right, call `manage.py prune_runs --confirm`."
        )


class _Candidate(NamedTuple):
    run: int
    host: int | None
    environment: int | None


def count_old(old: Old) -> int:
    """How many runs would be deleted."""
    statement = f"SELECT count(*) FROM ({_OLD}) old"  # noqa: S608 - constants
    ((count,),) = fetch_rows(statement, {**old._asdict(), "after": 0})
    return int(count)


def prune(old: Old) -> Iterator[int]:
    """Delete old runs with their documents and all that was derived; yields how many, each batch.

    What is not asked for any more is not deleted: the caller may stop between batches.
    """
    after = 0
    while batch := _find(old, after, BATCH_RUNS):
        after = batch[-1].run
        yield _delete(old, batch)


def _find(old: Old, after: int, limit: int) -> list[_Candidate]:
    given = {**old._asdict(), "after": after, "limit": limit}
    return [_Candidate(*row) for row in fetch_rows(f"{_OLD} LIMIT %(limit)s", given)]


@transaction.atomic
def _delete(old: Old, batch: list[_Candidate]) -> int:
    if not old.keep_latest:  # then runs beside them are judged again, as processing does
        wait_for_processing()
    hosts = sorted({one.host for one in batch if one.host is not None})
    # Whoever takes a run away from a host has locked it: none may become the latest meanwhile.
    list(Host.objects.select_for_update().filter(pk__in=hosts).order_by("pk").values_list("pk"))
    wanted = {one.run for one in batch}
    again = _find(old, batch[0].run - 1, len(batch))
    still = [one.run for one in again if one.run in wanted]
    Run.objects.filter(pk__in=still).delete()
    if not old.keep_latest:
        recompute_for(
            {(one.host, one.environment) for one in batch if one.host and one.environment}
        )
    return len(still)
