import hashlib
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from redis.exceptions import RedisError
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from accounts.models import ApiToken
from core.middleware import client_network

LAST_USED_RESOLUTION = timedelta(minutes=1)


class BearerTokenAuthentication(BaseAuthentication):
    """Authenticate requests that have the header `Authorization: Bearer TOKEN`.

    `request.auth` becomes the `ApiToken`. `request.user` stays anonymous.
    """

    def authenticate(self, request: Request) -> tuple[AnonymousUser, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            return None
        if len(words) != 2:
            raise AuthenticationFailed("Use the header Authorization: Bearer TOKEN.")
        now = timezone.now()
        digest = hashlib.sha256(words[1]).hexdigest()
        token = ApiToken.objects.filter(digest=digest, revoked_at=None).first()
        if token is None or (token.expires_at and token.expires_at <= now):
            raise AuthenticationFailed(
                "This token is unknown, expired or revoked. Use another token."
            )
        if token.last_used_at is None or now - token.last_used_at > LAST_USED_RESOLUTION:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="ciphermark"'


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its hook
    target_class = BearerTokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class FailOpenThrottle(SimpleRateThrottle):
    """Limit the rate of requests, but allow all requests while Redis is unavailable."""

    def allow_request(self, request: Request, view: Any) -> bool:
        try:
            return super().allow_request(request, view)
        except RedisError:
            return True

    def get_ident(self, request: HttpRequest) -> str:
        return client_network(request)


class TokenThrottle(FailOpenThrottle):
    scope = "token"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        if not isinstance(request.auth, ApiToken):
            return None
        return self.cache_format % {"scope": self.scope, "ident": request.auth.pk}


class AddressThrottle(FailOpenThrottle):
    scope = "address"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        if isinstance(request.auth, ApiToken):
            return None
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}


def _scope(request: Request) -> str | None:
    return request.auth.scope if isinstance(request.auth, ApiToken) else None


class MayRead(BasePermission):
    """Allow all requests on public sites. Otherwise require a read token or a signed-in user."""

    message = "Use a token with the read scope."

    def has_permission(self, request: Request, view: Any) -> bool:
        scope = _scope(request)
        if scope is not None:
            return scope == ApiToken.Scope.READ or bool(settings.CIPHERMARK_PUBLIC)
        return bool(settings.CIPHERMARK_PUBLIC) or bool(request.user.is_authenticated)


class MayUpload(BasePermission):
    """Allow only API tokens with the upload scope. Signed-in users have an upload page instead."""

    message = "Use a token with the upload scope."

    def has_permission(self, request: Request, view: Any) -> bool:
        return _scope(request) == ApiToken.Scope.UPLOAD


class _PeopleWith(BasePermission):
    needed = ""

    def has_permission(self, request: Request, view: Any) -> bool:
        return _scope(request) is None and request.user.has_perm(self.needed)


def _people(needed: str, message: str) -> type[BasePermission]:
    return type("PeopleWith", (_PeopleWith,), {"needed": needed, "message": message})


MayChangeRuns = _people("runs.change_run", "Sign in as an editor to hide runs.")
MayRemoveRuns = _people("runs.delete_run", "Sign in as an editor to delete runs.")
MayChangeHosts = _people("runs.change_host", "Sign in as an editor to change hosts.")
MayDecideChanges = _people(
    "changes.change_fleetchange", "Sign in as an editor to acknowledge changes."
)
MayAddNotes = _people("hosts.add_note", "Sign in as an editor to add notes.")
MayRemoveNotes = _people("hosts.delete_note", "Sign in as an editor to delete notes.")
MayShare = _people("compare.add_share", "Sign in as an editor to create shared links.")
