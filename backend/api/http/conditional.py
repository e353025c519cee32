"""Conditional reads (RFC 9110, section 13): 304 for callers that have the present answer.

Comparisons and downloads are named by the version of the data that they are made from, before any
work is done. All other answers of the API are named by their bytes, which saves the sending alone.
"""

import hashlib
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, parse_http_date_safe
from rest_framework.request import Request

from results.answer_cache import program_changed_at, program_stamp
from store.data_version import DataState, data_state

SETTLED_SECONDS = 2.0
"""HTTP's dates are whole seconds: a change so young may be followed by another of the same date."""


def of_present_data(
    request: Request, make: Callable[[DataState], HttpResponseBase]
) -> HttpResponseBase:
    """The answer that `make` gives, with ETag and Last-Modified; 304 if the caller has it."""
    state = data_state()
    etag, modified = _etag(request, state), _last_modified(state)
    asked = parse_http_date_safe(request.headers.get("If-Modified-Since", ""))
    # The same date alone: after a restore the present state is older than what callers have.
    dated = modified if asked == modified else None
    known = get_conditional_response(request._request, etag=etag, last_modified=dated)
    response = make(state) if known is None else known
    response["ETag"] = etag
    if modified is not None:
        response["Last-Modified"] = http_date(modified)
    return response


def _etag(request: Request, state: DataState) -> str:
    # Weak: a workbook says when it was made, and gzip makes other bytes of the same text.
    facts = (request.build_absolute_uri(), str(state.version), program_stamp())
    return f'W/"{hashlib.sha256(" ".join(facts).encode()).hexdigest()[:32]}"'


def _last_modified(state: DataState) -> int | None:
    """Unix time of the last change of data or program, None where that was just now."""
    if state.changed_at is None:
        return None
    modified = max(state.changed_at.timestamp(), program_changed_at())
    return int(modified) if timezone.now().timestamp() - modified > SETTLED_SECONDS else None


class ConditionalApiMiddleware(ConditionalGetMiddleware):
    """Names answers of the API by their bytes where nothing else names them."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """304 instead of what the caller has already."""
        if not request.path_info.startswith("/api/") or response.status_code != HTTPStatus.OK:
            return response
        if response.has_header("ETag"):  # judged before it was made
            return response
        if not isinstance(response, HttpResponse):  # streamed: there are no bytes to name it by
            return response
        answer: HttpResponseBase = super().process_response(request, response)
        return answer
