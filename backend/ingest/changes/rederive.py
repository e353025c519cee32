"""Rows derived anew from stored documents, after an update that derives them differently."""

from django.db import transaction

from ingest.changes.recompute import refresh_hosts
from ingest.processing.id_cache import forget_everything
from ingest.processing.run_processing import DERIVED_VERSION, process_run
from store.models import Environment, Host, Run


def forget_derived(run: Run) -> None:
    """Make a run what it was when it had just been accepted; its document stays."""
    for derived in (run.measurements, run.baseline_levels, run.speed_indices):
        derived.all().delete()
    run.status = Run.Status.ACCEPTED


def renew_runs() -> int:
    """Derive every run anew that an older version of the program derived; returns how many.

    A machine whose CPU is named differently today would else count as two. One transaction a run:
    readers see the old rows or the new ones, and an interrupted call goes on where it stopped.
    """
    outdated = Run.objects.filter(status=Run.Status.READY, derived_version__lt=DERIVED_VERSION)
    runs = list(outdated.order_by("id").values_list("pk", flat=True))
    for pk in runs:
        _renew(pk)
    if runs:
        refresh_hosts(Host.objects.values_list("pk", flat=True))
        Environment.objects.filter(runs__isnull=True).delete()
        forget_everything()
    return len(runs)


@transaction.atomic
def _renew(pk: int) -> None:
    run = Run.objects.select_for_update().get(pk=pk)
    if run.status == Run.Status.READY and run.derived_version < DERIVED_VERSION:
        forget_derived(run)
        run.save(update_fields=["status"])
        process_run(pk)
