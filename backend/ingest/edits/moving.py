"""Old documents moved to object storage and back, and what no run has any more deleted there.

A document leaves PostgreSQL once it has been read back from the object storage, byte for byte.
Whatever is broken off in between is done again: until then it lies in both.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from django.db import connection, transaction

from store import run_documents
from store.models import MovedDocument, RunDocument
from store.outage import DocumentUnreadable
from store.run_documents import ENVIRONMENT, documents_of
from store.statements import fetch_rows

BATCH = 64
"""Documents on their way at one time: a second or two, and 130 MB if all were the largest."""

UNUSED_KEPT = timedelta(days=1)
"""How long an object stays that no run has: an export or backup that has begun may read it."""

USED_AGAIN = UNUSED_KEPT / 2
"""Until then an object may be taken for the same bytes again; one that is older may be going."""

HOUR = timedelta(hours=1)
"""Far longer than deleting a batch takes: a task has two minutes."""

_OLD = """
SELECT d.run_id, d.body FROM runs_rundocument d CROSS JOIN LATERAL (
    SELECT FROM runs_run r WHERE r.id = d.run_id
    AND r.received_at < %(before)s AND r.status <> 'accepted' OFFSET 0
) old
WHERE d.body IS NOT NULL AND d.run_id > %(after)s ORDER BY d.run_id LIMIT %(limit)s
"""
"""OFFSET 0: along the index of documents that are here, whatever is guessed of the runs."""

_MOVE = f"""
UPDATE runs_rundocument d SET environment = ({ENVIRONMENT})::text, body = NULL, moved_id = m.id
FROM runs_moveddocument m, runs_run r
WHERE d.run_id = ANY(%(runs)s) AND d.body IS NOT NULL AND r.id = d.run_id
    AND r.status <> 'accepted'
    AND m.id = ANY(%(moved)s) AND m.sha256 = encode(sha256(d.body), 'hex')
"""  # noqa: S608 - constants
"""Only of bytes that are still those that were uploaded: a text may be parsed again meanwhile."""

_MARK = """
UPDATE runs_moveddocument m SET unused_since = CASE WHEN unused_since IS NULL THEN now() END
WHERE (unused_since IS NULL) <> EXISTS (SELECT FROM runs_rundocument d WHERE d.moved_id = m.id)
"""
"""Those that no run has any more, since now; and none that one has."""


_CLAIM = """
UPDATE runs_moveddocument SET unused_since = now() - %(kept)s::interval + %(hour)s::interval
WHERE id IN (
    SELECT id FROM runs_moveddocument WHERE unused_since < now() - %(kept)s::interval
    LIMIT %(limit)s
) AND unused_since < now() - %(kept)s::interval
RETURNING id, sha256
"""
"""Those that go: for an hour nobody else deletes them, perhaps when they have just come again."""


class Batch(NamedTuple):
    """How many documents were moved, and the key of the last run that was looked at."""

    moved: int
    reached: int


def move_old(before: datetime, after: int = 0, *, patient: bool = False) -> Iterator[Batch]:
    """Move documents received before a moment, of runs with keys beyond `after`.

    The caller may stop between batches. Raises `ObjectStorageUnavailable`.
    """
    while found := _old(before, after):
        after = max(found)
        yield Batch(_move(found, patient), after)


def _old(before: datetime, after: int) -> dict[int, bytes]:
    rows = fetch_rows(_OLD, {"before": before, "after": after, "limit": BATCH})
    return {run: bytes(body) for run, body in rows}


def _move(found: dict[int, bytes], patient: bool) -> int:
    bodies = {sha256(body).hexdigest(): body for body in found.values()}
    # Known before it is uploaded: what is broken off leaves no object that nobody knows.
    MovedDocument.objects.bulk_create(
        [MovedDocument(sha256=digest, size=len(body)) for digest, body in bodies.items()],
        ignore_conflicts=True,
    )
    run_documents.put(bodies, patient=patient)
    with transaction.atomic():
        moved = _taken(list(bodies))
        with connection.cursor() as cursor:
            cursor.execute(_MOVE, {"runs": list(found), "moved": moved})
            return int(cursor.rowcount)


def _taken(digests: list[str]) -> list[int]:
    """The objects that may be used, which from now on are; two movers take them in one order."""
    rows = fetch_rows(
        "SELECT id FROM runs_moveddocument WHERE sha256 = ANY(%s)"
        " AND (unused_since IS NULL OR unused_since > now() - %s::interval)"
        " ORDER BY id FOR UPDATE",
        [digests, str(USED_AGAIN)],
    )
    keys = [key for (key,) in rows]
    MovedDocument.objects.filter(pk__in=keys).update(unused_since=None)
    return keys


def delete_unused() -> Iterator[int]:
    """Delete objects that no run has had for a day; yields how many, each batch.

    Raises `ObjectStorageUnavailable`; what is not deleted then is found again.
    """
    with connection.cursor() as cursor:
        cursor.execute(_MARK)
    while gone := _going():
        run_documents.delete(gone.values())
        MovedDocument.objects.filter(pk__in=gone).delete()
        yield len(gone)


def _going() -> dict[int, str]:
    given = {"kept": str(UNUSED_KEPT), "hour": str(HOUR), "limit": BATCH}
    return dict(fetch_rows(_CLAIM, given))


def bring_back() -> Iterator[int]:
    """Have every document in PostgreSQL again; yields how many, each batch.

    Those that cannot be read stay moved, and the log names them. Raises
    `ObjectStorageUnavailable`. A day later the objects are deleted.
    """
    after = 0
    while batch := _moved(after):
        after = max(batch)
        yield _restore(_readable(batch))


def _moved(after: int) -> list[int]:
    rows = RunDocument.objects.filter(moved__isnull=False, pk__gt=after).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:BATCH])


def _readable(batch: list[int]) -> dict[int, bytes]:
    with suppress(DocumentUnreadable):
        return documents_of(batch)
    found: dict[int, bytes] = {}
    for pk in batch:
        with suppress(DocumentUnreadable):
            found |= documents_of([pk])
    return found


@transaction.atomic
def _restore(bodies: dict[int, bytes]) -> int:
    return sum(
        RunDocument.objects.filter(pk=pk, moved__sha256=sha256(body).hexdigest()).update(
            body=body, moved=None, environment=None
        )
        for pk, body in bodies.items()
    )
