"""How many requests a minute the API takes from one token, person or address."""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from access.addresses import client_address, network_of
from access.request_counts import seconds_to_wait
from store.models import ApiToken


class PerCaller(BaseThrottle):
    """A token has a count of its own, wherever it is used; everybody else one per address."""

    def __init__(self) -> None:
        self._wait: int | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        """Whether this request is within the limit."""
        if isinstance(request.auth, ApiToken):
            limit = settings.CIPHERMARK_TOKEN_RATE
            self._wait = seconds_to_wait("token", str(request.auth.pk), limit)
        else:
            who = network_of(client_address(request))
            self._wait = seconds_to_wait("address", who, settings.CIPHERMARK_ADDRESS_RATE)
        return self._wait is None

    def wait(self) -> int | None:
        """Seconds for Retry-After."""
        return self._wait
