"""Addresses that are files, and parts of a file: an interrupted download goes on."""

from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from django.http import FileResponse, HttpResponse, HttpResponseBase
from django.http.request import HttpRequest
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from whitenoise.responders import MissingFileError, Response, SlicedFile, StaticFile


class _File(StaticFile):  # type: ignore[misc]  # WhiteNoise has no types
    """WhiteNoise's file, which takes a range of one byte (`bytes=0-0`) for an empty one."""

    def get_range_response(
        self, range_header: str, base_headers: list[tuple[str, str]], file_handle: BinaryIO | None
    ) -> Response:
        size = int(dict(base_headers)["Content-Length"])
        first, last = self.get_byte_range(range_header, size)
        if first != last:
            return super().get_range_response(range_header, base_headers, file_handle)
        kept = [(name, text) for name, text in base_headers if name != "Content-Length"]
        part = [("Content-Range", f"bytes {first}-{last}/{size}"), ("Content-Length", "1")]
        file = SlicedFile(file_handle, first, last) if file_handle else None
        return Response(HTTPStatus.PARTIAL_CONTENT, [*kept, *part], file)


def ranged_file(request: HttpRequest, path: Path, name: str, content_type: str) -> HttpResponseBase:
    """The file or the part of it that `Range` asks for (WhiteNoise's own, which serves /static/).

    With an `If-Range` that is not this file's ETag the whole file comes, as RFC 9110 has it.
    Raises FileNotFoundError.
    """
    headers = [("Content-Type", content_type), ("Accept-Ranges", "bytes")]
    try:
        file = _File(str(path), headers)
    except MissingFileError:
        raise FileNotFoundError(path) from None
    asked = dict(request.META)
    if asked.get("HTTP_IF_RANGE", file.etag) != file.etag:
        asked.pop("HTTP_RANGE", None)
    answer = file.get_response(request.method, asked)
    if answer.file is None:
        response: HttpResponseBase = HttpResponse(status=answer.status)
    else:
        response = FileResponse(answer.file, status=answer.status)
    for key, value in answer.headers:
        response[key] = value
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


class FileNegotiation(DefaultContentNegotiation):
    """Of an address that is a file of one type: that is what there is, whatever is accepted.

    Who accepts `text/csv` alone must not be refused the CSV because an error would be JSON.
    """

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """The first, for errors."""
        first = next(iter(renderers))
        return first, str(first.media_type)
