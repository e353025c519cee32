"""Which form an answer has: nearly everybody takes the first, which is JSON."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

ANYTHING = ("", "*/*")


class Negotiation(DefaultContentNegotiation):
    """DRF's, which reads the header in full also where there is nothing to choose."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """The renderer and its media type."""
        accept = request.META.get("HTTP_ACCEPT", "")
        first = next(iter(renderers))
        if not format_suffix and (accept in ANYTHING or accept == first.media_type):
            return first, str(first.media_type)
        chosen: tuple[BaseRenderer, str] = super().select_renderer(
            request, renderers, format_suffix
        )
        return chosen


class OfFiles(Negotiation):
    """Of an address that is a file of one type: that is what there is, whatever is accepted.

    Who accepts `text/csv` alone must not be refused the CSV because an error would be JSON.
    """

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """The first, for errors."""
        first = next(iter(renderers))
        return first, str(first.media_type)
