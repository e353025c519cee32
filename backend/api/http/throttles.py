"""How many requests a minute each caller of the API may make, counted in Redis."""

from typing import Any

from django.http import HttpRequest
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from access.client_address import client_network
from store.models import ApiToken


class _OpenThrottle(SimpleRateThrottle):
    """Lets everybody in while Redis cannot be reached."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Return whether this request is within the rate."""
        try:
            return super().allow_request(request, view)
        except RedisError:
            return True

    def get_ident(self, request: HttpRequest) -> str:
        """Return the caller's address, IPv6 by /64, as our outermost proxy saw it."""
        return client_network(request)


class TokenThrottle(_OpenThrottle):
    """Counts the requests of a token, from whatever address."""

    scope = "token"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """Return None for a request without a token."""
        if not isinstance(request.auth, ApiToken):
            return None
        return self.cache_format % {"scope": self.scope, "ident": request.auth.pk}


class AddressThrottle(_OpenThrottle):
    """Counts the requests without a token by address."""

    scope = "address"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """Return None for a request with a token."""
        if isinstance(request.auth, ApiToken):
            return None
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}
