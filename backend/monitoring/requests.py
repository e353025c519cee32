"""Around every request: its id; once it is answered, a line in the log and a count."""

import logging
import re
import time
from collections.abc import Callable
from uuid import uuid4

from django.http import HttpRequest, HttpResponseBase

from access.client_address import client_address
from monitoring.metrics import REQUEST_SECONDS, REQUESTS
from telemetry.log_lines import start_context

logger = logging.getLogger("ciphermark.requests")

REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:=+/@-]{0,99}")
"""Ids of proxies that we go by; any other is replaced by one of ours."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

PROBES = ("/healthz", "/readyz", "/metrics")
"""Asked every few seconds: their lines are for DEBUG, and nothing counts them."""


class RequestMiddleware:
    """The outermost: whatever answers, the answer has an id by which it is found in the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on.

        The context is not taken back: while the answer is sent, in this thread, an error belongs
        to this request still. The next one begins its own.
        """
        begun = time.perf_counter()
        given = request.headers.get("X-Request-ID", "")
        request_id = given if REQUEST_ID.fullmatch(given) else uuid4().hex
        start_context(request_id=request_id, client=client_address(request))
        answer = self.get_response(request)
        answer["X-Request-ID"] = request_id
        seconds = time.perf_counter() - begun
        _log(request, answer, seconds)
        _count(request, answer, seconds)
        return answer


def _log(request: HttpRequest, answer: HttpResponseBase, seconds: float) -> None:
    """One line. The path is escaped, so that nobody can write lines of their own."""
    level = logging.DEBUG if request.path_info in PROBES else logging.INFO
    if not logger.isEnabledFor(level):
        return
    path, milliseconds = request.get_full_path(), round(seconds * 1000, 1)
    fields = {
        "method": request.method,
        "path": path,
        "status": answer.status_code,
        "duration_ms": milliseconds,
        "user_agent": request.headers.get("User-Agent", "")[:200],
    }
    logger.log(
        level,
        "%s %s %d in %s ms",
        *(request.method, path, answer.status_code, milliseconds),
        extra={"fields": fields},
    )


def _count(request: HttpRequest, answer: HttpResponseBase, seconds: float) -> None:
    if request.path_info in PROBES:
        return
    method = str(request.method) if request.method in METHODS else "other"
    REQUESTS.labels(method, str(answer.status_code)).inc()
    REQUEST_SECONDS.observe(seconds)
