"""Receive the forms of the upload page with a limited amount of memory."""

import binascii
import zlib
from base64 import b64decode, b64encode
from typing import Any
from uuid import UUID

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadhandler import FileUploadHandler, MemoryFileUploadHandler, SkipFile
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError

from runs.received import MAX_BYTES

FORM_BYTES = 2 * MAX_BYTES
"""Maximum size of all texts in a form, in bytes."""
REQUEST_BYTES = 4 * FORM_BYTES
"""Maximum Content-Length in bytes. The server does not read larger requests."""
DRAIN_CHUNK = 64 * 1024


class FormRefused(Exception):
    """Report a rejected form. `run_id`: ID of a stored run that conflicts with the form."""

    def __init__(self, reason: str, status: int = 400, run_id: UUID | None = None) -> None:
        super().__init__(reason)
        self.status, self.run_id = status, run_id


class NoFiles(FileUploadHandler):
    """Discard files in forms that expect no files."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None: ...

    def file_complete(self, file_size: int) -> None: ...


class BoundedFiles(MemoryFileUploadHandler):
    """Store uploaded files in memory, and truncate files that exceed the limits.

    The attribute `size` of a file is the size before truncation.
    """

    def handle_raw_input(self, *args: Any, **kwargs: Any) -> None:
        self.activated = True
        self.left = FORM_BYTES

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        room = min(MAX_BYTES - self.file.tell(), self.left)
        taken = raw_data[: max(0, room)]
        self.left -= len(taken)
        self.file.write(taken)


def receive_form(request: HttpRequest) -> None:
    """Parse the form into `request.POST` and `request.FILES`, or raise `FormRefused`.

    Call this function before anything reads `request.POST`, such as the CSRF check.
    """
    if int(request.META.get("CONTENT_LENGTH") or 0) > REQUEST_BYTES:
        reason = f"The upload exceeds {REQUEST_BYTES >> 20} MiB. Upload fewer files at a time."
        raise FormRefused(reason, status=413)
    request.upload_handlers = [BoundedFiles(request)]
    try:
        request.POST  # noqa: B018  # parses the form
    except (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent):
        _read_to_the_end(request)
        reason = "The form is too large. Upload fewer files or a shorter text."
        raise FormRefused(reason, status=413) from None
    except MultiPartParserError as error:
        raise FormRefused(f"The form data is corrupt ({error}). Try again.") from None


def _read_to_the_end(request: HttpRequest) -> None:
    # Browsers read the response only after they have sent the whole request.
    try:
        while request.read(DRAIN_CHUNK):
            pass
    except UnreadablePostError:
        return


def pack(body: bytes) -> str:
    # For a hidden field: a text area would change line ends and lose the encoding.
    return b64encode(zlib.compress(body)).decode("ascii")


def unpack(packed: str) -> bytes:
    """Decode the output of `pack`. Raise `FormRefused` if the input is corrupt or too long."""
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(b64decode(packed, validate=True), MAX_BYTES + 1)
    except (binascii.Error, zlib.error, ValueError):
        body = b""
    if not body or len(body) > MAX_BYTES or not unpacker.eof or unpacker.unused_data:
        raise FormRefused("The text is corrupt. Choose the file again.")
    return body
