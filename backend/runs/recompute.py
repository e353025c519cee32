from collections.abc import Iterable

from django.db import transaction

from runs.models import Host, HostWatch, Run
from runs.verdicts import judge_again

Pair = tuple[int, int]
"""Primary keys of a host and an environment."""


def pairs_of(runs: Iterable[Run]) -> set[Pair]:
    pairs = ((run.host_id, run.environment_id) for run in runs)
    return {(host, environment) for host, environment in pairs if host and environment}


@transaction.atomic
def recompute_for(changed: Iterable[Pair]) -> None:
    """Recompute derived data after runs have been deleted, hidden, shown or moved.

    Set the latest run of each host and the AES verdicts of the remaining runs. Schedule change
    detection, which runs in the background.
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
    gone = list(runs)
    changed = pairs_of(gone)
    for run in gone:
        run.delete()
    recompute_for(changed)
