"""What stands outside the lists: hidden runs, and what waits for approval or may have to."""

from django.conf import settings
from django.db.models import Count, Q, QuerySet

from store.models import Host, Run


def shown_runs(*, unvetted: bool = False) -> QuerySet[Run]:
    """Runs that are not hidden.

    Where new hosts need approval, a run that has not been processed, or was rejected, may be of
    one of them: it is of no host yet, and whatever it says is for those alone who approve hosts,
    which `unvetted` says of who asks.
    """
    runs = Run.objects.filter(hidden=False)
    vetted_only = settings.CIPHERMARK_APPROVE_HOSTS and not unvetted
    return runs.filter(host__isnull=False) if vetted_only else runs


def hidden_runs() -> QuerySet[Run]:
    """Runs that an editor has hidden, with their hosts; those of waiting hosts are not among them.

    A page takes them by primary key, so only as many are read as it shows.
    """
    return Run.objects.filter(hidden=True, held=False).select_related("host")


def waiting_hosts() -> QuerySet[Host]:
    """Hosts that nobody has approved yet, each with how many runs it has: `waiting`."""
    return Host.objects.filter(approved=False).annotate(
        waiting=Count("runs", filter=Q(runs__held=True))
    )
