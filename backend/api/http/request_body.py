"""The bytes of an upload: bounded, and freed of their transfer compression."""

import zlib
from collections.abc import Sequence
from io import BytesIO
from typing import IO

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http.request import UnreadablePostError
from gunicorn.http.errors import NoMoreData, ParseException
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.request import Request

from api.http.json_parser import TooLarge
from texts.received import MAX_BYTES

GZIP = 16 + zlib.MAX_WBITS


TEXT_TYPES = ("text/plain", "text/markdown", "text/csv", "application/octet-stream")


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"An upload here has at most {limit} bytes.")


def _gunzip(packed: bytes, limit: int) -> bytes:
    """The unpacked bytes; never more than `limit` + 1 of them come into being."""
    unpacker = zlib.decompressobj(GZIP)
    try:
        body = unpacker.decompress(packed, limit + 1)
    except zlib.error as error:
        raise ParseError(f"The body is not gzip: {error}") from None
    if len(body) > limit:
        raise _too_large(limit)
    if not unpacker.eof:
        raise ParseError("The gzip body ends too early.")
    if unpacker.unused_data:
        raise ParseError("There are bytes after the end of the gzip body.")
    return body


def _stream(request: Request) -> IO[bytes]:
    """The body's bytes. Django takes a chunked body, which has no Content-Length, for empty."""
    if request.META.get("wsgi.input_terminated"):
        stream: IO[bytes] = request.META["wsgi.input"]
        return stream
    return request.stream or BytesIO()


def read_json_body(request: Request) -> bytes:
    """The JSON of a run document, of at most RUN_DOCUMENT_MAX_BYTES."""
    return _read_body(
        request, "a run document", ("application/json",), settings.RUN_DOCUMENT_MAX_BYTES
    )


def read_text_body(request: Request) -> bytes:
    """Return the bytes of a text to import, at most texts.received.MAX_BYTES."""
    return _read_body(request, "a text that a tool printed", TEXT_TYPES, MAX_BYTES)


def _read_body(request: Request, what: str, media_types: Sequence[str], limit: int) -> bytes:
    """The request's bytes, which are to be `what`.

    415 for another content type or encoding, 413 for too large a body (packed or unpacked),
    400 for a damaged or an empty one.
    """
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    if media_type not in media_types:
        raise UnsupportedMediaType(media_type or "none", detail=_expected(media_type, media_types))
    if int(request.META.get("CONTENT_LENGTH") or 0) > limit:
        raise _too_large(limit)
    try:
        body = _stream(request).read(limit + 1)
    except (RequestDataTooBig, UnreadablePostError, ParseException, NoMoreData) as error:
        raise ParseError(f"The body could not be read: {error}") from None
    if len(body) > limit:
        raise _too_large(limit)
    if len(body) < int(request.META.get("CONTENT_LENGTH") or 0):
        raise ParseError("The body ends before its Content-Length.")
    body = _unpacked(request, body, limit)
    if not body:
        raise ParseError(f"The body is empty: send {what} in it.")
    return body


def _unpacked(request: Request, body: bytes, limit: int) -> bytes:
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower()
    if encoding == "gzip":
        return _gunzip(body, limit)
    if encoding != "identity":
        raise UnsupportedMediaType(encoding, detail=f"Content-Encoding {encoding} is not known.")
    return body


def _expected(media_type: str, media_types: Sequence[str]) -> str:
    return f"Send this with Content-Type: {media_types[0]} (not {media_type or 'none'})."
