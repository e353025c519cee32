"""Answers instead of a page: 429 after wrong passwords, 503 while something cannot be reached."""

from collections.abc import Callable
from typing import Any

from axes.helpers import get_cool_off
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from store.outage import RETRY_AFTER, outage_message


def locked_out(
    request: HttpRequest, response: HttpResponse | None = None, credentials: Any = None
) -> HttpResponse:
    """In place of the sign-in form, after five wrong passwords."""
    cool_off = get_cool_off(request)
    seconds = int(cool_off.total_seconds()) if cool_off else 60
    context = {"minutes": -(-seconds // 60)}
    answer = render(request, "pages/locked_out.html", context, status=429)
    answer["Retry-After"] = str(seconds)
    return answer


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
            "again": RETRY_AFTER if request.method == "GET" else None,
            "file": request.path_info.startswith("/api/"),
        }
        return HttpResponse(
            render_to_string("pages/unavailable.html", context),
            status=503,
            headers={"Retry-After": str(RETRY_AFTER)},
        )
