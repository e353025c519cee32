import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.core.exceptions import RequestDataTooBig
from django.core.exceptions import ValidationError as InvalidValue
from django.http.request import UnreadablePostError
from django_filters.rest_framework import DjangoFilterBackend
from gunicorn.http.errors import NoMoreData, ParseException
from rest_framework.exceptions import (
    NotFound,
    ParseError,
    UnsupportedMediaType,
    ValidationError,
)
from rest_framework.generics import ListAPIView
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from core.json_parser import TooLarge
from core.outage import outage_message
from core.parameters import OF_ALL, OF_LISTS, ParameterFilterSet, ParameterForm, checked


class ByCursor(CursorPagination):
    """Paginate a list with a cursor, newest rows first.

    New rows do not shift the pages. The last page loads as fast as the first page.
    """

    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
    ordering = "-id"
    invalid_cursor_message = "Invalid cursor. Omit it, then follow the next and previous links."

    def paginate_queryset(
        self, queryset: Any, request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValueError, InvalidValue):
            raise NotFound(self.invalid_cursor_message) from None

    def get_page_size(self, request: Request) -> int | None:
        text = request.query_params.get(self.page_size_query_param) or str(self.page_size)
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
            raise ValidationError(
                {"page_size": f"{text[:50]!r} is not valid; use a whole number above 0."}
            )
        return min(int(text), self.max_page_size)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        page: dict[str, Any] = super().get_paginated_response_schema(schema)
        # DRF describes the links with `nullable`, which OpenAPI 3.1 does not have.
        for link in ("next", "previous"):
            page["properties"][link] = {"type": ["string", "null"], "format": "uri"}
        return page

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == self.page_size_query_param:
                parameter["schema"] = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
        return parameters


class ByCursorOfIds(ByCursor):
    """Paginate a list of IDs, which may have any order.

    A cursor contains the ID directly before or after the page, so changes elsewhere in the list do
    not shift the page. The cursor also contains the index of the ID, in case the ID is deleted.
    """

    offset_cutoff = 10**9  # effectively unlimited; DRF's default is 1,000

    def paginate_queryset(self, queryset: Any, request: Any, view: Any = None) -> list[Any]:
        self.base_url = request.build_absolute_uri()
        size = self.get_page_size(request) or self.page_size
        place, backwards, position = self.decode_cursor(request) or Cursor(0, False, 0)
        if not re.fullmatch(r"[0-9]{1,18}", str(position or 0)):
            raise NotFound(self.invalid_cursor_message)
        seen = int(position or 0)
        if seen in queryset:
            place = queryset.index(seen) + (not backwards)
        place = min(place, len(queryset))
        self.begin = max(0, place - size) if backwards else place
        self.end = place if backwards else min(place + size, len(queryset))
        self.has_more = self.end < len(queryset)
        self.ids = list(queryset[self.begin : self.end])
        return self.ids

    def get_next_link(self) -> str | None:
        return self._link(-1, self.end - 1) if self.has_more else None

    def get_previous_link(self) -> str | None:
        return self._link(0, self.begin) if self.begin else None

    def _link(self, index: int, place: int) -> str:
        seen = self.ids[index] if self.ids else 0
        link: str = self.encode_cursor(Cursor(place, reverse=index == 0, position=seen))
        return link


class ApiView(APIView):
    """Reject unknown URL parameters.

    POST, PUT, PATCH and DELETE accept unknown URL parameters unless the method has a form in
    `parameters`. Otherwise an upload would fail if a proxy adds a parameter.
    """

    # Permission class by method; overrides `permission_classes`.
    permissions: ClassVar[Mapping[str, type[BasePermission]]] = {}
    # Form by method; `self.form` is the validated form. Lists have a `filterset_class` instead.
    parameters: ClassVar[Mapping[str, type[ParameterForm]]] = {}
    filterset_class: ClassVar[type[ParameterFilterSet] | None] = None
    form: Any

    def get_permissions(self) -> Sequence[Any]:
        own = self.permissions.get(str(self.request.method))
        return [own()] if own else super().get_permissions()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        method = "GET" if request.method == "HEAD" else str(request.method)
        form = self.parameters.get(method)
        if form is None and method == "GET" and self.filterset_class is None:
            form = ParameterForm
        if form is not None:
            besides = OF_LISTS if isinstance(self, ListAPIView) else OF_ALL
            self.form = checked(form(request.query_params, besides=besides))

    def handle_exception(self, exc: Exception) -> Response:
        if self.by_browser and outage_message(exc):
            raise exc  # RequestMiddleware renders the page of an outage
        return super().handle_exception(exc)

    @property
    def by_browser(self) -> bool:
        accepted = self.request.headers.get("Accept", "")
        return self.request.method == "GET" and "text/html" in accepted


def sent(shape: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated members of the request body.

    Raise `ValidationError` if a member is invalid or unknown.
    """
    given = shape(data=request.data)
    given.is_valid(raise_exception=True)
    known = [name for name, field in given.fields.items() if not field.read_only]
    if unknown := set(request.data) - set(known):
        words = f"Unknown member; valid members: {', '.join(known)}."
        raise ValidationError(dict.fromkeys(unknown, words))
    checked: dict[str, Any] = given.validated_data
    return checked


def read_body(request: Request, *media_types: str, most: int) -> bytes:
    """Return the body of an upload, decompressed if the encoding is gzip.

    Raise an exception with status 415 for another content type or encoding, 413 if the compressed
    or decompressed body exceeds `most` bytes, and 400 if the body is damaged or empty.
    """
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    if media_type not in media_types:
        expected = f"Use Content-Type: {media_types[0]} (not {media_type or 'none'})."
        raise UnsupportedMediaType(media_type or "none", detail=expected)
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    # Django treats a chunked body as empty, because it has no Content-Length.
    is_chunked = request.META.get("wsgi.input_terminated")
    stream = request.META["wsgi.input"] if is_chunked else request.stream
    try:
        body: bytes = stream.read(most + 1) if stream and length <= most else b""
    except (RequestDataTooBig, UnreadablePostError, ParseException, NoMoreData) as error:
        raise ParseError(f"The body could not be read: {error}") from None
    if max(length, len(body)) > most:
        raise TooLarge(f"The upload exceeds {most} bytes.")
    if len(body) < length:
        raise ParseError("The body is shorter than its Content-Length.")
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower()
    if encoding == "gzip":
        body = _gunzip(body, most)
    elif encoding != "identity":
        raise UnsupportedMediaType(
            encoding, detail=f"Content-Encoding {encoding} is not supported; use gzip or none."
        )
    if not body:
        raise ParseError("The request body is empty. Send a run document or benchmark output.")
    return body


def _gunzip(packed: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        body = unpacker.decompress(packed, most + 1)
    except zlib.error as error:
        raise ParseError(f"The body is not valid gzip: {error}") from None
    if len(body) > most:
        raise TooLarge(f"The upload exceeds {most} bytes.")
    if not unpacker.eof or unpacker.unused_data:
        raise ParseError("The gzip body is incomplete or followed by other bytes.")
    return body


class ListView(ApiView, ListAPIView[Any]):
    pagination_class = ByCursor
    filter_backends = (DjangoFilterBackend,)
