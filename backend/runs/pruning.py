from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from runs.models import Run
from runs.models.run import MEASURED_AT

BATCH_RUNS = 200


def old_runs(days: int) -> QuerySet[Run]:
    """Return processed runs older than `days`, except each host's latest per environment.

    Published runs are excluded. Age is measured from the newest upload or the current time,
    whichever is earlier, so that a fast clock deletes no run.
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
    """Delete old runs and yield the size of each batch. Batches let uploads continue."""
    while batch := list(old_runs(days).values_list("pk", flat=True)[:BATCH_RUNS]):
        Run.objects.filter(pk__in=batch).delete()
        yield len(batch)
