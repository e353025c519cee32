"""A stored file over HTTP, so that an interrupted download goes on where it stopped."""

from pathlib import Path

from django.http import FileResponse, HttpResponse, HttpResponseBase
from django.http.request import HttpRequest
from whitenoise.responders import StaticFile


def ranged_file(request: HttpRequest, path: Path, name: str, content_type: str) -> HttpResponseBase:
    """The file or the part of it that `Range` asks for (WhiteNoise's own, which serves /static/).

    With an `If-Range` that is not this file's ETag the whole file comes, as RFC 9110 has it.
    """
    headers = [("Content-Type", content_type), ("Accept-Ranges", "bytes")]
    file = StaticFile(str(path), headers)
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
