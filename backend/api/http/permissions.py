"""Scopes of tokens and rights of people."""

from typing import Any

from django.conf import settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from access.reading import APPROVES_HOSTS
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


class MayManageProfiles(_PeopleWith):
    """Editors: they make, activate and retire reference profiles."""

    needed = "runs.add_referenceprofile"
    message = "Reference profiles are managed by signed-in people with that permission."


class MayChangeRuns(_PeopleWith):
    """Editors: they hide runs and show them again."""

    needed = "runs.change_run"
    message = "Runs are hidden by signed-in editors."


class MayRemoveRuns(_PeopleWith):
    """Editors: they remove runs."""

    needed = "runs.delete_run"
    message = "Runs are removed by signed-in editors."


class MayChangeHosts(_PeopleWith):
    """Editors: they rename, merge and approve hosts."""

    needed = APPROVES_HOSTS
    message = "Hosts are changed by signed-in editors."


class MayDecideChanges(_PeopleWith):
    """Editors: they acknowledge and ignore changes of the fleet."""

    needed = "runs.change_fleetchange"
    message = "Changes are acknowledged by signed-in editors."


class MayAddNotes(_PeopleWith):
    """Editors: they make notes."""

    needed = "runs.add_note"
    message = "Notes are made by signed-in editors."


class MayRemoveNotes(_PeopleWith):
    """Editors: they remove notes."""

    needed = "runs.delete_note"
    message = "Notes are removed by signed-in editors."


class MayShare(_PeopleWith):
    """Editors: they make unlisted links."""

    needed = "runs.add_share"
    message = "Links are shared by signed-in editors."


def allowed(request: Request, reading: type[BasePermission], **others: Any) -> list[BasePermission]:
    """The permission of the request's method: `others` by method, all else is reading."""
    chosen: type[BasePermission] = others.get(str(request.method), reading)
    return [chosen()]
