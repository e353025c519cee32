"""503 while the database cannot be reached: agents and people are told to come back."""

from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse

RETRY_AFTER = 10
"""Seconds."""

UNREACHABLE = (OperationalError, InterfaceError)


class DatabaseUnavailableMiddleware:
    """Answers for pages; the API has the same answer in its own error format."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """A plain page without any lookup, or None for every other failure."""
        if not isinstance(error, UNREACHABLE):
            return None
        return HttpResponse(
            "The database cannot be reached just now. Nothing is lost; please try again soon.\n",
            status=503,
            content_type="text/plain; charset=utf-8",
            headers={"Retry-After": str(RETRY_AFTER)},
        )
