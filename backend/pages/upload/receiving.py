"""The bytes of an upload form: bounded in memory, however much is sent.

A text that was previewed travels through the next form as its exact bytes, compressed, as letters
in a hidden field: a text area would change line ends and lose the encoding. Compressed, a text of
the largest size that is read (4 MiB) stays below Django's limit for the fields of a form (2.5 MB),
unless it is noise; scripts send it as a file part, which that limit does not touch.
"""

import binascii
import zlib
from base64 import b64decode, b64encode
from typing import Any

from django.core.exceptions import (
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.files.uploadhandler import FileUploadHandler, MemoryFileUploadHandler, SkipFile
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError

from parsers.received_text import MAX_BYTES

FORM_BYTES = 16 * 1024 * 1024
"""Bytes of all files of one form that are kept; a browser with scripts sends one at a time."""

REQUEST_BYTES = 4 * FORM_BYTES
"""A request that says it is larger is not read at all."""

DRAIN_CHUNK = 64 * 1024


class FormRefused(Exception):
    """This form cannot be read; says why, for people. `status` is that of the answer."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class NoFiles(FileUploadHandler):
    """For every other form: a file in it is passed over."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Never begin one."""
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Nothing is ever received."""

    def file_complete(self, file_size: int) -> None:
        """Nothing has come into being."""


class BoundedFiles(MemoryFileUploadHandler):
    """Keeps what can be read of each file and counts the rest; nothing goes to the disk.

    A file's `size` is what was sent, its content what was kept.
    """

    def handle_raw_input(self, *args: Any, **kwargs: Any) -> None:
        """However large the whole form is."""
        self.activated = True
        self.left = FORM_BYTES

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Keep a piece as far as there is room: one byte too many tells that there was more."""
        room = min(MAX_BYTES + 1 - self.file.tell(), self.left)
        taken = raw_data[: max(0, room)]
        self.left -= len(taken)
        self.file.write(taken)


def receive_form(request: HttpRequest) -> None:
    """Read the form into `request.POST` and `request.FILES`, or raise `FormRefused`.

    To be called before anything looks at `request.POST`, the check of the CSRF token included.
    """
    if int(request.META.get("CONTENT_LENGTH") or 0) > REQUEST_BYTES:
        raise FormRefused(
            f"This is more than {REQUEST_BYTES >> 20} MiB in one go. Send fewer files at a time.",
            status=413,
        )
    request.upload_handlers = [BoundedFiles(request)]
    try:
        request.POST  # noqa: B018  # reading it is what parses the form
    except RequestDataTooBig:
        _read_to_the_end(request)
        raise FormRefused(
            "This text is too large to be sent without JavaScript. "
            "If you pasted it, save it to a file and choose the file instead.",
            status=413,
        ) from None
    except (TooManyFieldsSent, TooManyFilesSent):
        _read_to_the_end(request)
        raise FormRefused("These are too many files for one form.", status=413) from None
    except MultiPartParserError as error:
        raise FormRefused(f"The form arrived damaged: {error}.") from None


def _read_to_the_end(request: HttpRequest) -> None:
    """Take what the browser is still sending: it reads no answer before it has sent all."""
    try:
        while request.read(DRAIN_CHUNK):
            pass
    except UnreadablePostError:
        return


LEVEL = 6
FIELD_LIMIT = 2_000_000
"""Characters of a packed text that surely pass as a field, beside the other fields."""


class DamagedPacking(ValueError):
    """The field holds nothing that `pack` has made."""


def pack(body: bytes) -> str:
    """The bytes as letters."""
    return b64encode(zlib.compress(body, LEVEL)).decode("ascii")


def unpack(packed: str | bytes) -> bytes:
    """The bytes that were packed; never more than MAX_BYTES of them come into being.

    Raises `DamagedPacking` for anything that `pack` does not make of a text that is read.
    """
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(b64decode(packed, validate=True), MAX_BYTES + 1)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise DamagedPacking(str(error)) from None
    if len(body) > MAX_BYTES or not unpacker.eof or unpacker.unused_data:
        raise DamagedPacking("cut, too long, or with something behind its end")
    return body
