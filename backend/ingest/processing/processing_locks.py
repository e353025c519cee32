"""Beginning with accepted runs, and locking them once their rows are ready to be stored.

These commits need not wait for the disk: what a crash of the database takes back is work to do
again, for the run is then what it was, accepted with its document, and the sweeper finds it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.db import connection

from ingest.processing.hosts import HOSTS, HostKey, host_parameters, known_hosts
from store.models import Run
from store.outage import UNREACHABLE
from store.processing_lock import HOLD_OFF_EDITS
from store.statements import fetch_rows

CLAIM = 7101
"""First half of the advisory locks' key; the other is the run's."""

_CLAIM = "SELECT pg_try_advisory_lock(%s, (%s %% 2147483647)::int)"
_RELEASE = "SELECT pg_advisory_unlock(%s, (%s %% 2147483647)::int)"

_NEXT = """
SELECT min(id) FROM (SELECT id FROM runs_run WHERE status = 'accepted' OFFSET 0) AS accepted
WHERE id > %s
"""
"""OFFSET 0: by the small index of accepted runs, never along the keys of all that are ready."""


@contextmanager
def claimed(run_pk: int) -> Iterator[bool]:
    """Whether no other worker is at this run; then it is this one's until the context ends.

    The claim is the connection's: that of a worker that is killed ends with it, and one that
    merely takes long keeps it, so that being asked twice is never taken for failing twice.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [CLAIM, run_pk])
        mine = bool(cursor.fetchone()[0])
    try:
        yield mine
    finally:
        # A connection that broke has given its claims up already.
        if mine and not connection.needs_rollback:
            with suppress(*UNREACHABLE), connection.cursor() as cursor:
                cursor.execute(_RELEASE, [CLAIM, run_pk])


def next_accepted(after: int) -> int | None:
    """The key of the first run that waits to be processed and has a larger key than `after`."""
    key: int | None = fetch_rows(_NEXT, [after])[0][0]
    return key


@dataclass(frozen=True)
class Begun:
    """An accepted run whose processing has begun, and its document as it was then."""

    run: Run
    text: str
    digest: str


@dataclass(frozen=True)
class Found:
    """What was found when runs were locked."""

    unchanged: bool
    hosts: dict[HostKey, int]


_NO_WAIT = """set_config('synchronous_commit',
    coalesce(%(commit)s, current_setting('synchronous_commit')), true)"""

_BEGIN = f"""
UPDATE runs_run r SET attempts = attempts + %(attempts)s FROM runs_rundocument d
WHERE r.id = (SELECT id FROM runs_run WHERE id = %(run)s AND status = 'accepted'
    FOR UPDATE SKIP LOCKED)
AND d.run_id = r.id AND {_NO_WAIT} IS NOT NULL
RETURNING r.run_id, r.source, r.attempts, convert_from(d.body, 'UTF8'),
    d.content_digest
"""  # noqa: S608 - constants
"""A run that another worker is storing at this moment is left to it: nobody waits for it."""

_LOCK = f"""
SELECT id FROM runs_run WHERE id = ANY(%(runs)s) AND status = 'accepted' ORDER BY id FOR UPDATE;
SELECT {_NO_WAIT};
SELECT content_digest FROM runs_rundocument WHERE run_id = ANY(%(runs)s) ORDER BY run_id;
{HOLD_OFF_EDITS};
{HOSTS}
"""  # noqa: S608 - constants
"""Each statement sees what is committed when it begins: documents once their runs are locked."""


def _unless(part_of_another_transaction: object) -> str | None:
    """Do not wait; whether a larger transaction waits is not ours to say."""
    return None if part_of_another_transaction else "off"


def begin(run_pk: int, *, count: bool = True) -> Begun | None:
    """Note one more attempt at an accepted run, in a transaction of its own; None for others.

    A document that ends its worker must leave a trace of that. `count` False: what broke the
    attempt before off was the database, and this one goes on with it.
    """
    parameters = {
        "run": run_pk,
        "attempts": int(count),
        "commit": _unless(connection.in_atomic_block),
    }
    rows = fetch_rows(_BEGIN, parameters)
    if not rows:
        return None
    run_id, source, attempts, text, digest = rows[0]
    run = Run(pk=run_pk, run_id=run_id, source=source, attempts=attempts)
    return Begun(run, text, digest)


def lock_and_look_up(begun: Sequence[Begun], hosts: Sequence[HostKey]) -> Found:
    """Lock accepted runs, in the order of their keys, and look up what their rows need."""
    expected = sorted((one.run.pk, one.digest) for one in begun)
    parameters = {
        "runs": [pk for pk, _ in expected],
        "commit": _unless(connection.savepoint_ids),
        **host_parameters(hosts),
    }
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, parameters)
        locked, _, digests, _, numbers = _every_answer(cursor)
    found = [(row[0], digest[0]) for row, digest in zip(locked, digests, strict=False)]
    return Found(
        unchanged=found == expected,
        hosts=known_hosts(hosts, numbers),
    )


def _every_answer(cursor: Any) -> list[list[tuple[Any, ...]]]:
    """The rows of each of several statements."""
    answers = [cursor.fetchall()]
    while cursor.nextset():
        answers.append(cursor.fetchall())
    return answers
