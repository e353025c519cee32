"""Who may read: signed-in people, read tokens, everybody on a public site; no shared cache."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse


def reading_allowed(request: HttpRequest) -> bool:
    """Whether a browser may see pages: signed in, or the site is public."""
    return bool(settings.CIPHERMARK_PUBLIC) or request.user.is_authenticated


ASKED_AGAIN = "private, no-cache"
"""Browsers may keep an answer and ask each time whether it still holds; caches in between may not:
what one reader may see another may not."""


class PrivateAnswersMiddleware:
    """Says so of every answer that says nothing of caches itself; assets do."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", ASKED_AGAIN)
        return response
