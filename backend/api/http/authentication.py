"""`Authorization: Bearer TOKEN`, and how many requests a minute each caller has."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from access.client_address import client_address, network_of
from access.request_counts import seconds_to_wait
from access.tokens import find_token
from store.models import ApiToken


class BearerTokenAuthentication(BaseAuthentication):
    """A program, known by its token; it is no user, so `request.user` stays anonymous."""

    keyword = "Bearer"

    def authenticate(self, request: Request) -> tuple[AnonymousUser, ApiToken] | None:
        """The token as `request.auth`; None without such a header; 401 for a wrong one."""
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            return None
        if len(words) != 2:
            raise AuthenticationFailed("The header must be: Authorization: Bearer TOKEN")
        try:
            token = find_token(words[1].decode("ascii"))
        except UnicodeDecodeError:
            token = None
        if token is None:
            self._slow_down(request)
            raise AuthenticationFailed("This token is unknown, expired or revoked.")
        return AnonymousUser(), token

    @staticmethod
    def _slow_down(request: Request) -> None:
        """Wrong tokens count against their address: each costs a look into the database."""
        who = network_of(client_address(request))
        wait = seconds_to_wait("wrong-token", who, settings.CIPHERMARK_ADDRESS_RATE)
        if wait is not None:
            raise Throttled(wait)

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return f'{self.keyword} realm="ciphermark"'


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its hook
    """How the OpenAPI document describes our tokens."""

    target_class = "api.http.authentication.BearerTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """An HTTP bearer token."""
        return {"type": "http", "scheme": "bearer"}


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
