"""What follows when runs change, and rows derived again from stored documents after an update.

Of a run that is taken away, hidden, shown again or given to another host: the names of the hosts
concerned, and the verdicts of the runs beside it.
"""

import json
import logging
from collections.abc import Collection, Iterable
from typing import NamedTuple

from django.db import connection, transaction

from ingest.fleet_changes.entries import settle
from ingest.fleet_changes.watching import mark_due
from ingest.processing.aes_verdict import judge_again
from ingest.processing.hosts import NAME_HOSTS
from ingest.processing.id_cache import forget_everything
from ingest.processing.run_processing import DERIVED_VERSION, process_run
from store.models import Environment, FleetChangeMember, Host, Run
from store.outage import UNREACHABLE

logger = logging.getLogger(__name__)

Pair = tuple[int, int]
"""Primary keys of a host and of an environment."""


@transaction.atomic
def refresh_hosts(host_pks: Collection[int]) -> None:
    """Name these hosts by their runs that count; changes in them are found in the background."""
    hosts = sorted(set(host_pks))
    # Two refreshes of one host must not interleave.
    list(Host.objects.select_for_update().filter(pk__in=hosts).order_by("pk").values_list("pk"))
    with connection.cursor() as cursor:
        cursor.execute(NAME_HOSTS, [hosts])
    mark_due(hosts)


def pairs_of(runs: Iterable[Run]) -> set[Pair]:
    """Where these runs count; those that were never derived count nowhere."""
    found = ((run.host_id, run.environment_id) for run in runs)
    return {(host, environment) for host, environment in found if host and environment}


@transaction.atomic
def recompute_for(changed: Iterable[Pair]) -> None:
    """Bring what is derived from the runs of these hosts in these environments up to date."""
    pairs = sorted(set(changed))
    for host_pk, environment_pk in pairs:
        judge_again(host_pk, environment_pk)
    refresh_hosts({host_pk for host_pk, _ in pairs})


@transaction.atomic
def set_hidden(run: Run, hidden: bool) -> None:
    """Hide a run from every list and statistic, or show it again."""
    Run.objects.filter(pk=run.pk).update(hidden=hidden)
    run.hidden = hidden
    recompute_for(pairs_of([run]))


@transaction.atomic
def delete_runs(runs: Iterable[Run]) -> None:
    """Remove runs with everything that was derived from them, and their documents."""
    gone = list(runs)
    changed = pairs_of(gone)
    # Of what is deleted because it is old the entries stay: those are not deleted here.
    parts = FleetChangeMember.objects.filter(first_run__in=[run.pk for run in gone])
    entries = set(parts.values_list("change_id", flat=True))
    parts.delete()
    settle(entries)
    for run in gone:
        run.delete()
    recompute_for(changed)


def forget_derived(run: Run) -> None:
    """Make a run what it was when it had just been accepted; its document stays."""
    for derived in (run.measurements, run.baseline_levels, run.speed_indices):
        derived.all().delete()
    run.status = Run.Status.ACCEPTED


class Renewed(NamedTuple):
    """How many runs were derived again, and how many keep their old rows."""

    runs: int
    kept: int


def renew_runs() -> Renewed:
    """Derive every run anew that an older version of the program derived.

    A machine whose CPU is named differently today would else count as two. One transaction a run:
    readers see the old rows or the new ones, and an interrupted call goes on where it stopped.
    """
    outdated = Run.objects.filter(status=Run.Status.READY, derived_version__lt=DERIVED_VERSION)
    runs, kept = list(outdated.order_by("id").values_list("pk", flat=True)), 0
    for pk in runs:
        try:
            _renew(pk)
        except UNREACHABLE:
            raise
        except Exception:
            logger.exception("run %d keeps what an older version derived of it", pk)
            kept += 1
    if runs:
        refresh_hosts(Host.objects.values_list("pk", flat=True))
        Environment.objects.filter(runs__isnull=True).delete()
        forget_everything()
    return Renewed(len(runs) - kept, kept)


@transaction.atomic
def _renew(pk: int) -> None:
    run = Run.objects.select_for_update().get(pk=pk)
    if run.status == Run.Status.READY and run.derived_version < DERIVED_VERSION:
        json.loads(run.document.received)  # one that cannot be read keeps its rows
        forget_derived(run)
        run.save(update_fields=["status"])
        process_run(pk)
