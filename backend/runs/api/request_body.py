"""The bytes of an upload: bounded, and freed of their transfer compression."""

import zlib
from io import BytesIO
from typing import IO

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http.request import UnreadablePostError
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.request import Request

from runs.api.errors import TooLarge

GZIP = 16 + zlib.MAX_WBITS


def _too_large() -> TooLarge:
    return TooLarge(f"A run document has at most {settings.RUN_DOCUMENT_MAX_BYTES} bytes.")


def _gunzip(packed: bytes, limit: int) -> bytes:
    """The unpacked bytes; never more than `limit` + 1 of them come into being."""
    unpacker = zlib.decompressobj(GZIP)
    try:
        body = unpacker.decompress(packed, limit + 1)
    except zlib.error as error:
        raise ParseError(f"The body is not gzip: {error}") from None
    if len(body) > limit:
        raise _too_large()
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
    """The request's JSON bytes, of at most RUN_DOCUMENT_MAX_BYTES.

    415 for another content type or encoding, 413 for too large a body (packed or unpacked),
    400 for a damaged one.
    """
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType(media_type or "none")
    limit = settings.RUN_DOCUMENT_MAX_BYTES
    if int(request.META.get("CONTENT_LENGTH") or 0) > limit:
        raise _too_large()
    try:
        body = _stream(request).read(limit + 1)
    except (RequestDataTooBig, UnreadablePostError) as error:
        raise ParseError(f"The body could not be read: {error}") from None
    if len(body) > limit:
        raise _too_large()
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower()
    if encoding == "gzip":
        return _gunzip(body, limit)
    if encoding != "identity":
        raise UnsupportedMediaType(encoding, detail=f"Content-Encoding {encoding} is not known.")
    return body
