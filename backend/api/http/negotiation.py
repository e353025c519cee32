"""Which form the answer of an address for files has."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class FileNegotiation(DefaultContentNegotiation):
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
