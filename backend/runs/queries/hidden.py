"""What stands outside the lists: hidden runs, and new hosts that wait for approval."""

from django.db.models import Count, Q, QuerySet

from runs.models import Host, Run


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
