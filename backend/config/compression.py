"""Answers by gzip, for who takes it: text shrinks to a tenth."""

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXTS = ("text/", "application/json", "application/schema+json", "image/svg+xml")


class TextGZipMiddleware(GZipMiddleware):
    """Django's, for texts alone.

    It pads what it compresses, and CSRF tokens are masked, so that lengths tell nobody a secret.
    A workbook is compressed already.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Compress the answer, or leave it as it is."""
        if not response.headers.get("Content-Type", "").startswith(TEXTS):
            return response
        answer: HttpResponseBase = super().process_response(request, response)
        return answer
