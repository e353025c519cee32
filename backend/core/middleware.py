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
"""Pattern of valid X-Request-ID headers. A request without a valid header gets a new ID."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

PROBES: dict[str, Callable[[HttpRequest], HttpResponse]] = {
    "/healthz": healthz,
    "/readyz": readyz,
    "/metrics": metrics,
}

ADDRESS_NOT_KNOWN = "127.0.0.1"
"""IP address to assume for clients that connect through a Unix socket."""

REVALIDATE = "private, no-cache"
"""Default Cache-Control header. Browsers must revalidate a stored response before each use.
Shared caches must not store responses, because permissions differ by user.
"""


def client_address(request: HttpRequest) -> str:
    """Return the IP address of the client, as reported by the outermost of the site's proxies.

    `CIPHERMARK_PROXIES` is the number of proxies. Each proxy appends one IP address to
    X-Forwarded-For. Earlier entries of the header are ignored, because a client can forge them.
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
    """Return the IPv4 address of the client, or the /64 network of an IPv6 address.

    A /64 network usually belongs to a single customer.
    """
    parsed = ip_address(client_address(request))
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    mapped = parsed.ipv4_mapped
    return str(mapped or IPv6Network((int(parsed), 64), strict=False).network_address)


class RequestMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        begun = time.perf_counter()
        given = request.headers.get("X-Request-ID", "")
        request_id = given if REQUEST_ID.fullmatch(given) else uuid4().hex
        # The context is not reset: errors while sending the response belong to this request.
        start_context(request_id=request_id, client=client_address(request))
        # Probes bypass host name checks and HTTPS redirects, because load balancers and
        # Prometheus use IP addresses.
        probe = PROBES.get(request.path_info)
        if probe is not None:
            answer: HttpResponseBase = probe(request)
            answer["Cache-Control"] = "no-store"
        else:
            answer = self.get_response(request)
            answer.headers.setdefault("Cache-Control", REVALIDATE)
        answer["X-Request-ID"] = request_id
        seconds = time.perf_counter() - begun
        _log(request, answer, seconds, level=logging.DEBUG if probe else logging.INFO)
        if probe is None:
            method = str(request.method) if request.method in METHODS else "other"
            REQUESTS.labels(method, str(answer.status_code)).inc()
            REQUEST_SECONDS.observe(seconds)
        return answer

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        words = outage_message(error)
        if words is None:
            return None
        context = {
            "words": words,
            "again": RETRY_AFTER if request.method == "GET" else None,
            "file": request.path_info.startswith("/api/"),
        }
        # The template must not query the database.
        return HttpResponse(
            render_to_string("core/unavailable.html", context),
            status=503,
            headers={"Retry-After": str(RETRY_AFTER)},
        )


def _log(request: HttpRequest, answer: HttpResponseBase, seconds: float, level: int) -> None:
    # get_full_path() escapes line breaks, so a request cannot add log lines.
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
    """Compress only text responses. Excel workbooks are already compressed.

    Attacks that use the lengths of responses fail, because Django adds random padding and masks
    CSRF tokens.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not response.headers.get("Content-Type", "").startswith(TEXTS):
            return response
        answer: HttpResponseBase = super().process_response(request, response)
        return answer
