"""Answers instead of a page: 429 for too many requests, 503 while something cannot be reached."""

from collections.abc import Callable
from typing import Any

from axes.helpers import get_cool_off
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse

from access.client_address import client_address, network_of
from access.request_counts import seconds_to_wait
from store.outage import RETRY_AFTER, DocumentUnreadable, outage_message

COUNTED_ELSEWHERE = "/api/"
"""The API counts its own requests, each token for itself."""


class ThrottleMiddleware:
    """Counts the requests for pages by address, and attempts to sign in apart from them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on, unless it is one too many."""
        if request.path_info.startswith(COUNTED_ELSEWHERE):
            return self.get_response(request)
        who = network_of(client_address(request))
        attempts = (("POST", reverse("login")), ("GET", reverse("oidc-start")))
        if (request.method, request.path) in attempts:
            wait = seconds_to_wait("sign-in", who, settings.CIPHERMARK_SIGN_IN_RATE)
        else:
            wait = seconds_to_wait("address", who, settings.CIPHERMARK_ADDRESS_RATE)
        if wait is not None:
            return _slow_down(request, wait)
        return self.get_response(request)


def _slow_down(request: HttpRequest, seconds: int, locked_out: bool = False) -> HttpResponse:
    context = {"minutes": -(-seconds // 60), "locked_out": locked_out}
    answer = render(request, "pages/slow_down.html", context, status=429)
    answer["Retry-After"] = str(seconds)
    return answer


def locked_out(
    request: HttpRequest, response: HttpResponse | None = None, credentials: Any = None
) -> HttpResponse:
    """In place of the sign-in form, after five wrong passwords."""
    cool_off = get_cool_off(request)
    return _slow_down(request, int(cool_off.total_seconds()) if cool_off else 60, locked_out=True)


class UnavailableMiddleware:
    """Answers for pages; programs get the same from the API in its own error format."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """A page that needs no database, or None for every other failure."""
        words = outage_message(error)
        if words is None:
            return None
        context = {
            "words": words,
            "lost": isinstance(error, DocumentUnreadable),
            "again": RETRY_AFTER if request.method == "GET" else None,
            "file": request.path_info.startswith(COUNTED_ELSEWHERE),
        }
        return HttpResponse(
            render_to_string("pages/unavailable.html", context),
            status=503,
            headers={"Retry-After": str(RETRY_AFTER)},
        )
