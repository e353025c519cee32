"""Scopes of tokens and rights of people."""

from typing import Any

from django.conf import settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from store.models import ApiToken


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


class _PeopleWith(BasePermission):
    """Signed-in people with a permission; a token, whatever its scope, has none."""

    needed = ""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether a person of that permission asks."""
        return _scope(request) is None and request.user.has_perm(self.needed)


def _people(needed: str, message: str) -> type[BasePermission]:
    return type("PeopleWith", (_PeopleWith,), {"needed": needed, "message": message})


MayChangeRuns = _people("runs.change_run", "Runs are hidden by signed-in editors.")
MayRemoveRuns = _people("runs.delete_run", "Runs are removed by signed-in editors.")
MayChangeHosts = _people("runs.change_host", "Hosts are changed by signed-in editors.")
MayDecideChanges = _people(
    "runs.change_fleetchange", "Changes are acknowledged by signed-in editors."
)
MayAddNotes = _people("runs.add_note", "Notes are made by signed-in editors.")
MayRemoveNotes = _people("runs.delete_note", "Notes are removed by signed-in editors.")
MayShare = _people("runs.add_share", "Links are shared by signed-in editors.")
