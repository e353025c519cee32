"""Around every request: its id, and a line in the log once it is answered."""

import logging
import re
import time
from collections.abc import Callable
from uuid import uuid4

from django.http import HttpRequest, HttpResponseBase

from access.addresses import client_address
from telemetry.log_context import start_context

logger = logging.getLogger("ciphermark.requests")

REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:=+/@-]{0,99}")
"""Ids of proxies that we go by; any other is replaced by one of ours."""

PROBES = ("/healthz", "/readyz", "/metrics")
"""Asked every few seconds: their lines are for DEBUG."""


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
        _log(request, answer, time.perf_counter() - begun)
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
