"""How many exports one asker may have: a token, a person, or a network of visitors without a name.

A stranger's network is in the cache for as long as the file is there, and nowhere else. Exports
whose network is not known (any longer) count as everybody's.
"""

from collections.abc import Sequence

from django.core.cache import cache
from django.db import connection
from django.db.models import QuerySet
from redis.exceptions import RedisError

from store.models import ExportJob

MOST_UNFINISHED = 3
"""Exports that one asker may have under way; nobody needs more, and a disk has an end."""

MOST_KEPT = 20
"""Finished exports that one asker has; the oldest goes when another is asked for."""

MOST_UNFINISHED_OF_STRANGERS = 12
MOST_KEPT_OF_STRANGERS = 60
"""Of all networks together: whoever has many addresses must not fill the disk."""

LOCK = 7102
"""Of the database's advisory locks, the one under which exports are counted and added."""


class TooManyExports(Exception):
    """This asker has as many exports under way as one may have; the text says what to do."""


def wait_for_turn() -> None:
    """Until the transaction ends nobody else adds an export: none slips in between a count."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def check_room(job: ExportJob, under_way: Sequence[ExportJob], network: str) -> None:
    """Raise `TooManyExports` unless one more may be made beside these of the same asker."""
    if len(_of_network(job, under_way, network)) >= MOST_UNFINISHED:
        said = f"{MOST_UNFINISHED} exports of yours are under way: wait for one, or cancel one."
        raise TooManyExports(said)
    if _is_a_strangers(job) and len(under_way) >= MOST_UNFINISHED_OF_STRANGERS:
        raise TooManyExports(
            f"{MOST_UNFINISHED_OF_STRANGERS} exports of visitors without an account are under way:"
            " wait for one, or sign in."
        )


def too_old(job: ExportJob, ended: Sequence[ExportJob], network: str) -> list[ExportJob]:
    """Of these finished exports of the same asker, the latest first, those beyond what is kept."""
    beyond = _of_network(job, ended, network)[MOST_KEPT:]
    rest = ended[MOST_KEPT_OF_STRANGERS:] if _is_a_strangers(job) else ()
    return [*beyond, *(one for one in rest if one not in beyond)]


def of_asker(job: ExportJob) -> QuerySet[ExportJob]:
    """The exports of who asked for this one; all strangers are one asker here."""
    return ExportJob.objects.filter(person=job.person, token=job.token)


def remember_network(job: ExportJob, network: str, seconds: float) -> None:
    """Keep in mind where a stranger asked from."""
    if not _is_a_strangers(job):
        return
    try:
        cache.set(job.network_key, network, seconds)
    except (RedisError, OSError):
        return  # then it counts as everybody's


def _is_a_strangers(job: ExportJob) -> bool:
    return job.person is None and job.token is None


def _of_network(job: ExportJob, jobs: Sequence[ExportJob], network: str) -> Sequence[ExportJob]:
    if not _is_a_strangers(job):
        return jobs
    try:
        known = cache.get_many([one.network_key for one in jobs])
    except (RedisError, OSError):
        return jobs
    return [one for one in jobs if known.get(one.network_key, network) == network]
