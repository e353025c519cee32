"""Around every request: probes, its id, a page for outages, a line in the log and a count."""

import logging
import re
import time
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.template.loader import render_to_string

from core.log_lines import start_context
from core.metrics import REQUEST_SECONDS, REQUESTS, metrics
from core.outage import RETRY_AFTER, outage_message
from core.probes import healthz, readyz

logger = logging.getLogger("ciphermark.requests")

REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:=+/@-]{0,99}")
"""Ids of proxies that we go by; any other is replaced by one of ours."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

PROBES: dict[str, Callable[[HttpRequest], HttpResponse]] = {
    "/healthz": healthz,
    "/readyz": readyz,
    "/metrics": metrics,
}

ADDRESS_NOT_KNOWN = "127.0.0.1"
"""Of a client that came through a local socket."""

ASKED_AGAIN = "private, no-cache"
"""Browsers may keep an answer and ask each time whether it still holds; caches in between may not:
what one reader may see another may not."""


def client_address(request: HttpRequest) -> str:
    """Return the client's address, as the outermost of our own reverse proxies saw it.

    Each of the `CIPHERMARK_PROXIES` proxies in front adds the address that it saw at the end of
    X-Forwarded-For. Whatever precedes theirs was written by the client and counts nothing.
    """
    proxies: int = settings.CIPHERMARK_PROXIES
    seen = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[-proxies:] if proxies else []
    for candidate in (*seen[:1], request.META.get("REMOTE_ADDR", "")):
        try:
            return str(ip_address(candidate.strip()))
        except ValueError:
            continue
    return ADDRESS_NOT_KNOWN


def client_network(request: HttpRequest) -> str:
    """Return the client's address; for IPv6 its /64, which one customer of a provider has."""
    parsed = ip_address(client_address(request))
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    mapped = parsed.ipv4_mapped
    return str(mapped or IPv6Network((int(parsed), 64), strict=False).network_address)


class RequestMiddleware:
    """The outermost: whatever answers, the answer has an id by which it is found in the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a probe, or pass the request on.

        Probes are answered before the host name is checked or a request is redirected to HTTPS:
        load balancers and Prometheus ask by IP address. The context is not taken back: while the
        answer is sent, in this thread, an error belongs to this request still.
        """
        begun = time.perf_counter()
        given = request.headers.get("X-Request-ID", "")
        request_id = given if REQUEST_ID.fullmatch(given) else uuid4().hex
        start_context(request_id=request_id, client=client_address(request))
        probe = PROBES.get(request.path_info)
        if probe is not None:
            answer: HttpResponseBase = probe(request)
            answer["Cache-Control"] = "no-store"
        else:
            answer = self.get_response(request)
            answer.headers.setdefault("Cache-Control", ASKED_AGAIN)
        answer["X-Request-ID"] = request_id
        seconds = time.perf_counter() - begun
        _log(request, answer, seconds, level=logging.DEBUG if probe else logging.INFO)
        if probe is None:
            method = str(request.method) if request.method in METHODS else "other"
            REQUESTS.labels(method, str(answer.status_code)).inc()
            REQUEST_SECONDS.observe(seconds)
        return answer

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer an outage by a page that needs no database, and no other failure."""
        words = outage_message(error)
        if words is None:
            return None
        context = {
            "words": words,
            "again": RETRY_AFTER if request.method == "GET" else None,
            "file": request.path_info.startswith("/api/"),
        }
        return HttpResponse(
            render_to_string("core/unavailable.html", context),
            status=503,
            headers={"Retry-After": str(RETRY_AFTER)},
        )


def _log(request: HttpRequest, answer: HttpResponseBase, seconds: float, level: int) -> None:
    """Write one line. The path is escaped, so that a client cannot write lines."""
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


TEXTS = ("text/", "application/json", "application/schema+json", "image/svg+xml")


class TextGZipMiddleware(GZipMiddleware):
    """Django's, for texts alone: a workbook is compressed already.

    It pads what it compresses, and CSRF tokens are masked, so that lengths reveal no secret.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not response.headers.get("Content-Type", "").startswith(TEXTS):
            return response
        answer: HttpResponseBase = super().process_response(request, response)
        return answer
