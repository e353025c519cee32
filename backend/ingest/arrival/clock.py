"""Decide which clock is wrong when a run is dated in the future: the host's or the server's."""

from datetime import datetime, timedelta

from django.core.cache import cache
from django.db.models import Max
from django.utils import timezone

from documents.validation import Fault, date_faults
from store.models import Run
from store.statements import fetch_rows

AHEAD = "ciphermark:hosts-ahead"
"""In the cache: names of hosts whose runs were dated too far ahead within the hour."""

HOUR = timedelta(hours=1)
MOST_HOSTS = 1000


class ServerClockBehind(Exception):
    """The server's clock is behind: the run may well be of today."""


def checked_dates(document: dict[str, object], host: str) -> list[Fault]:
    """Return what is wrong with a document's dates; or raise `ServerClockBehind`."""
    now = timezone.now()
    faults = date_faults(document, now)
    if any(fault.code == "future" for fault in faults) and _is_behind(document, host, now):
        raise ServerClockBehind
    return faults


def _is_behind(document: dict[str, object], host: str, now: datetime) -> bool:
    """Ask the database's clock, what has been received later than now, and other hosts."""
    ((database,),) = fetch_rows("SELECT clock_timestamp()", [])
    newest = Run.objects.aggregate(newest=Max("received_at"))["newest"] or now
    if max(database, newest) > now + HOUR:
        return not date_faults(document, max(database, newest))
    ahead = {*cache.get(AHEAD, ()), host}
    if len(ahead) <= MOST_HOSTS:
        cache.set(AHEAD, ahead, HOUR.total_seconds())
    lately = Run.objects.filter(received_at__gt=now - HOUR).order_by()
    return len(ahead) > max(1, lately.values("host_name").distinct().count())
