from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from runs.models import Run
from runs.models.run import MEASURED_AT

BATCH_RUNS = 200


def old_runs(days: int) -> QuerySet[Run]:
    """Return the processed runs that are older than `days` days.

    Exclude published runs and the latest visible run of each host in each environment. Measure the
    age from the newest upload, so that a server clock in the future deletes no run.
    """
    now = timezone.now()
    newest = Run.objects.aggregate(newest=Max("received_at"))["newest"] or now
    later = (
        Run.objects.counted()
        .annotate(at=MEASURED_AT)
        .filter(host=OuterRef("host"), environment=OuterRef("environment"), at__gt=OuterRef("at"))
    )
    is_old = Q(at__lt=min(now, newest) - timedelta(days=days))
    counts_nowhere = Q(hidden=True) | Q(status=Run.Status.REJECTED)
    return (
        Run.objects.annotate(at=MEASURED_AT)
        .filter(is_old, counts_nowhere | Exists(later))
        .exclude(status=Run.Status.ACCEPTED)
        .exclude(source=Run.Source.PUBLISHED)
        .order_by("pk")
    )


def prune(days: int) -> Iterator[int]:
    """Delete old runs in batches, so that uploads can continue. Yield the size of each batch."""
    while batch := list(old_runs(days).values_list("pk", flat=True)[:BATCH_RUNS]):
        Run.objects.filter(pk__in=batch).delete()
        yield len(batch)
