"""What follows when runs change.

Of a run that is taken away, hidden, shown again or given to another host: the names of the hosts
concerned, and the verdicts of the runs beside it.
"""

from collections.abc import Collection, Iterable

from django.db import connection, transaction

from ingest.fleet_changes.entries import settle
from ingest.fleet_changes.watching import mark_due
from ingest.processing.hosts import NAME_HOSTS
from runs.verdicts import judge_again
from store.models import FleetChangeMember, Host, Run

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
