"""Scopes of tokens and rights of people."""

from typing import Any

from django.conf import settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from runs.models import ApiToken


def _scope(request: Request) -> str | None:
    return request.auth.scope if isinstance(request.auth, ApiToken) else None


class MayRead(BasePermission):
    """A read token, a signed-in person, or anybody without a token on a public site."""

    message = "A token of scope read is needed here."

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether this request may read."""
        scope = _scope(request)
        if scope is not None:
            return scope == ApiToken.Scope.READ or bool(settings.CIPHERMARK_PUBLIC)
        return bool(settings.CIPHERMARK_PUBLIC) or bool(request.user.is_authenticated)


class MayUpload(BasePermission):
    """A token of scope upload; people upload through their own pages."""

    message = "A token of scope upload is needed here."

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether this request may upload."""
        return _scope(request) == ApiToken.Scope.UPLOAD


class MayManageProfiles(BasePermission):
    """Signed-in people with the permission; a token, whatever its scope, only reads profiles."""

    message = "Reference profiles are managed by signed-in people with that permission."

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether this request may make, activate and retire reference profiles."""
        return _scope(request) is None and request.user.has_perm("runs.add_referenceprofile")
