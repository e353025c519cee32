"""The documents in object storage as part of a backup: behind the dump, each packed, with its
digest; a restore puts them back into PostgreSQL.
"""

import struct
import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import IO

from store.backups.programs import BackupRefused
from store.models import RunDocument
from store.outage import ObjectStorageUnavailable
from store.run_documents import MOVED, Moved, fetch, refuse_while_away

MARK = b"\n\xff\x00ciphermark/documents/1\x00\xff\n"
"""Before them. A dump has these bytes but by a chance of one in 2^200."""

BATCH = 64
PIECE = 64 * 1024

_UPDATE = (
    b"UPDATE public.runs_rundocument d SET body = '\\x%b', moved_id = NULL, environment = NULL"
    b" FROM public.runs_moveddocument m WHERE m.id = d.moved_id AND m.sha256 = '%b';\n"
)

_HEAD = struct.Struct(">32sI")
_END = _HEAD.pack(b"", 0)

MISSING = b"SELECT 'missing', count(*) FROM public.runs_rundocument WHERE body IS NULL;\n"
FORGET = b"DELETE FROM public.runs_moveddocument;\n"
"""What the objects are for other runs, or another site, is not known here."""


def write_moved(stream: IO[bytes]) -> None:
    """Behind a dump; nothing where all documents are in it.

    `BackupRefused` where one cannot be read: a backup has all of them.
    """
    after, mark = 0, MARK
    while rows := _rows(after):
        after = max(rows)
        try:
            bodies = fetch(rows.values(), patient=True)
        except ObjectStorageUnavailable as error:
            raise _no_backup(error) from None
        for one, body in zip(rows.values(), bodies, strict=True):
            packed = zlib.compress(body)
            stream.write(mark + _HEAD.pack(bytes.fromhex(one.sha256), len(packed)) + packed)
            mark = b""
    if not mark:
        stream.write(_END)


def refuse_without_moved() -> None:
    """`BackupRefused` where documents have moved and the object storage is away."""
    if _rows(0):
        try:
            refuse_while_away()
        except ObjectStorageUnavailable as error:
            raise _no_backup(error) from None


def _no_backup(error: ObjectStorageUnavailable) -> BackupRefused:
    return BackupRefused(f"There is no backup: {str(error).rstrip('.')}.")


def _rows(after: int) -> dict[int, Moved]:
    rows = RunDocument.objects.filter(moved__isnull=False, pk__gt=after).order_by("pk")
    return {pk: Moved(*where) for pk, *where in rows.values_list("pk", *MOVED)[:BATCH]}


class Rest:
    """What comes after a dump: bytes that were read with its end, then those of the file."""

    def __init__(self, begun: bytes, file: IO[bytes]) -> None:
        self._bytes, self._file = begun, file

    def statements(self) -> Iterator[bytes]:
        """What puts the documents into the tables of the dump; none where it has all itself.

        `BackupRefused` where they are cut off or damaged.
        """
        if not self._skip_to_mark():
            return
        while (head := self._read(_HEAD.size)) != _END:
            digest, size = _HEAD.unpack(head.ljust(_HEAD.size, b"\0"))
            yield _statement(digest, self._read(size))
        yield FORGET

    def _skip_to_mark(self) -> bool:
        while (at := self._bytes.find(MARK)) < 0:
            more = self._file.read(PIECE)
            if not more:
                return False
            self._bytes = self._bytes[-len(MARK) :] + more
        self._bytes = self._bytes[at + len(MARK) :]
        return True

    def _read(self, size: int) -> bytes:
        while len(self._bytes) < size and (more := self._file.read(PIECE)):
            self._bytes += more
        found, self._bytes = self._bytes[:size], self._bytes[size:]
        return found


def _statement(digest: bytes, packed: bytes) -> bytes:
    try:
        body = zlib.decompress(packed)
    except zlib.error:
        body = b""
    if sha256(body).digest() != digest:
        raise BackupRefused("a document is damaged")
    return _UPDATE % (body.hex().encode(), digest.hex().encode())
