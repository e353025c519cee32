"""`Authorization: Bearer TOKEN`."""

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

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
            raise AuthenticationFailed("This token is unknown, expired or revoked.")
        return AnonymousUser(), token

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
