"""Recompute what depends on a run that is removed, hidden, shown again or moved to another host.

That is the latest run of the hosts concerned, and the verdicts of their other runs.
"""

from collections.abc import Iterable

from django.db import transaction

from runs.models import Host, HostWatch, Run
from runs.verdicts import judge_again

Pair = tuple[int, int]
"""Primary keys of a host and of an environment."""


def pairs_of(runs: Iterable[Run]) -> set[Pair]:
    """Return the (host, environment) pairs of these runs, ignoring unprocessed runs."""
    pairs = ((run.host_id, run.environment_id) for run in runs)
    return {(host, environment) for host, environment in pairs if host and environment}


@transaction.atomic
def recompute_for(changed: Iterable[Pair]) -> None:
    """Compute again what is derived from the runs of these hosts in these environments.

    The detector looks for changes again in the background.
    """
    pairs = sorted(set(changed))
    hosts = sorted({host for host, _ in pairs})
    locked = Host.objects.select_for_update().filter(pk__in=hosts).order_by("pk")
    list(locked.values_list("pk"))
    for host, environment in pairs:
        judge_again(host, environment)
    Host.objects.filter(pk__in=hosts).refresh_latest_run()
    HostWatch.objects.mark_due(hosts)


@transaction.atomic
def delete_runs(runs: Iterable[Run]) -> None:
    """Remove runs with everything that was derived from them, and their documents."""
    gone = list(runs)
    changed = pairs_of(gone)
    for run in gone:
        run.delete()
    recompute_for(changed)
