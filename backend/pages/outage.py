"""503 for pages while the database, Redis or the analytics copy cannot answer."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from store.outage import RETRY_AFTER, outage_message


class UnavailableMiddleware:
    """Answers for pages; the API has the same answer in its own error format."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """A page that needs no database and no static file, or None for every other failure."""
        words = outage_message(error)
        if words is None:
            return None
        context = {"words": words, "again": RETRY_AFTER if request.method == "GET" else None}
        return HttpResponse(
            render_to_string("pages/unavailable.html", context),
            status=503,
            headers={"Retry-After": str(RETRY_AFTER)},
        )
