"""The Content-Security-Policy of every answer, spelt once."""

from typing import Any

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase


class OncePolicyMiddleware(CSPMiddleware):
    """The library's, which builds the same text anew for every answer.

    An answer that has a policy of its own, or that may go without one, is the library's matter.
    """

    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        self._policy = build_policy()

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set the header."""
        special = any(name.startswith("_csp_") for name in vars(response))
        if special or settings.DEBUG or hasattr(request, "_csp_nonce"):
            answer: HttpResponseBase = super().process_response(request, response)
            return answer
        response.headers.setdefault(HEADER, self._policy)
        return response
