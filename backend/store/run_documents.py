"""The documents of runs, wherever they lie: in PostgreSQL or, moved when old, in object storage.

There a document is `documents/AB/ABC....json.gz`, by the SHA-256 (hex) of its bytes as received,
by which it is checked whenever it is read.
"""

import gzip
import hashlib
import json
import logging
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar, cast
from uuid import UUID

from store.models import RunDocument
from store.object_storage import is_shared, storage
from store.outage import DocumentUnreadable, ObjectStorageUnavailable

logger = logging.getLogger(__name__)

ALIAS = "documents"

AT_ONCE = 8
"""Requests to the object storage at one time; the client has ten connections."""

ENVIRONMENT = (
    "coalesce(d.environment::json,"
    " ltrim(convert_from(d.body, 'UTF8'), U&'\\FEFF')::json -> 'environment')"
)
"""SQL of a document (d): what it says of its environment, in its own words."""

_GZIP = 31
"""zlib's number for the format of gzip."""

Given = TypeVar("Given")
Made = TypeVar("Made")


class Moved(NamedTuple):
    """Where a document lies, and of which run it is."""

    run_id: UUID | None
    sha256: str
    size: int


MOVED = ("run__run_id", "moved__sha256", "moved__size")
"""The same as fields of a `RunDocument`."""


def object_name(sha256: str) -> str:
    """Of the object in the folder of documents."""
    return f"{sha256[:2]}/{sha256}.json.gz"


def document_bytes(document: RunDocument) -> bytes:
    """A document exactly as received.

    Raises `ObjectStorageUnavailable`, and `DocumentUnreadable` where its object is lost.
    """
    if document.body is not None:
        return bytes(document.body)
    return documents_of([document.pk])[document.pk]


def documents_of(run_pks: Iterable[int]) -> dict[int, bytes]:
    """The same of several runs by their keys; those that are gone are not in it."""
    found, moved = {}, {}
    rows = RunDocument.objects.filter(pk__in=list(run_pks))
    for pk, body, *where in rows.values_list("pk", "body", *MOVED):
        if body is not None:
            found[pk] = bytes(body)
        else:
            moved[pk] = Moved(*where)
    return found | dict(zip(moved, fetch(moved.values()), strict=True))


def stated_environments(run_pks: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """The environment that each of these runs' documents states; no moved one is fetched."""
    rows = RunDocument.objects.filter(pk__in=list(run_pks))
    return {
        pk: _environment(body, environment)
        for pk, body, environment in rows.values_list("pk", "body", "environment")
    }


def stated_environment(document: RunDocument) -> Mapping[str, Any]:
    """The same of one."""
    return _environment(document.body, document.environment)


def _environment(body: Any, environment: str | None) -> Mapping[str, Any]:
    if body is None:
        return cast(Mapping[str, Any], json.loads(environment or ""))
    return cast(Mapping[str, Any], stored_document(bytes(body))["environment"])


def stored_document(body: bytes) -> Mapping[str, Any]:
    """Read a run document; of one that cannot be read everything is unknown, and the log says so.

    None is accepted that cannot be read, so it takes another hand in the database to get there.
    """
    try:
        return cast(Mapping[str, Any], json.loads(body))
    except ValueError as error:
        logger.warning("a run document that is stored cannot be read: %s", error)
        return {"environment": {}, "measurements": []}


def fetch(moved: Collection[Moved], *, patient: bool = False) -> list[bytes]:
    """The bytes of moved documents, in their order, each checked by its digest.

    Raises `ObjectStorageUnavailable`, and `DocumentUnreadable` where an object is lost.
    """
    if not moved:
        return []
    _refuse_without_storage()
    with storage(ALIAS, patient=patient) as files:
        client = files.connection.meta.client
        absent = client.exceptions.NoSuchKey

        def get(one: Moved) -> bytes:
            key = f"{files.location}/{object_name(one.sha256)}"
            try:
                answer = client.get_object(Bucket=files.bucket_name, Key=key)
            except absent:
                raise _unreadable(one, "is not there") from None
            with answer["Body"] as content:
                return _checked(one, content.read())

        return _together(get, moved)


def put(bodies: Mapping[str, bytes], *, patient: bool = False) -> None:
    """Have documents (by their SHA-256) in object storage: when this returns they can be read."""
    _refuse_without_storage()
    with storage(ALIAS, patient=patient) as files:
        client = files.connection.meta.client

        def save(sha256: str) -> None:
            client.put_object(
                Bucket=files.bucket_name,
                Key=f"{files.location}/{object_name(sha256)}",
                Body=gzip.compress(bodies[sha256], mtime=0),
                ContentType="application/gzip",
            )

        _together(save, bodies)
    fetch([Moved(None, sha256, len(body)) for sha256, body in bodies.items()], patient=patient)


def delete(digests: Collection[str]) -> None:
    """Delete objects, which need not be there."""
    _refuse_without_storage()
    with storage(ALIAS) as files:
        client = files.connection.meta.client

        def remove(sha256: str) -> None:
            key = f"{files.location}/{object_name(sha256)}"
            client.delete_object(Bucket=files.bucket_name, Key=key)

        _together(remove, digests)


def refuse_while_away() -> None:
    """Raise `ObjectStorageUnavailable` where the object storage does not answer within seconds.

    For work that somebody waits for: it would wait for each document for minutes.
    """
    _refuse_without_storage()
    with storage(ALIAS) as files:
        files.connection.meta.client.head_bucket(Bucket=files.bucket_name)


def _refuse_without_storage() -> None:
    if not is_shared(ALIAS):
        raise ObjectStorageUnavailable(
            "documents of this site lie in object storage, and CIPHERMARK_STORAGE_URL is not set"
        )


def _checked(one: Moved, packed: bytes) -> bytes:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        body = unpacker.decompress(packed, one.size + 1)
    except zlib.error:
        body = b""
    if len(body) != one.size or hashlib.sha256(body).hexdigest() != one.sha256:
        raise _unreadable(one, "is damaged")
    return body


def _unreadable(one: Moved, why: str) -> DocumentUnreadable:
    whose = f"of run {one.run_id} " if one.run_id else ""
    name = f"{ALIAS}/{object_name(one.sha256)}"
    error = DocumentUnreadable(f"The document {whose}cannot be read: the object {name} {why}")
    logger.error("%s", error)
    return error


def _together(act: Callable[[Given], Made], given: Collection[Given]) -> list[Made]:
    """Several requests at a time, by one client, which may be shared; the first failure ends it."""
    if len(given) == 1:
        return [act(one) for one in given]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            return list(threads.map(act, given))
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise
