"""503 with Retry-After while the database, Redis or the analytics copy cannot answer."""

from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from runs.analytics.engine import AnalyticsUnavailable

RETRY_AFTER = 10
"""Seconds."""

UNREACHABLE = (OperationalError, InterfaceError)


def what_is_away(error: Exception) -> str | None:
    """What an exception says cannot answer, as a sentence; None for every other failure."""
    if isinstance(error, AnalyticsUnavailable):
        return str(error)
    if isinstance(error, UNREACHABLE):
        return "The database cannot be reached just now"
    if isinstance(error, (RedisError, BrokerError)):
        return "Redis cannot be reached just now"
    return None


class DatabaseUnavailableMiddleware:
    """Answers for pages; the API has the same answer in its own error format."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """A plain page without any lookup, or None for every other failure."""
        words = what_is_away(error)
        if words is None:
            return None
        return HttpResponse(
            f"{words}. Nothing is lost; please try again soon.\n",
            status=503,
            content_type="text/plain; charset=utf-8",
            headers={"Retry-After": str(RETRY_AFTER)},
        )
