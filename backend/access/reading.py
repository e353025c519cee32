"""Who may read: signed-in people, read tokens, and everybody on a public site."""

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request

APPROVES_HOSTS = "runs.change_host"
"""The editors' permission to rename, merge and approve hosts."""


def sees_unvetted(request: Request | HttpRequest) -> bool:
    """Whether the runs of hosts that nobody has approved are shown: to who may approve them.

    A token has no such right, whoever made it.
    """
    return getattr(request, "auth", None) is None and request.user.has_perm(APPROVES_HOSTS)


def reading_allowed(request: HttpRequest) -> bool:
    """Whether a browser may see pages: signed in, or the site is public."""
    return bool(settings.CIPHERMARK_PUBLIC) or request.user.is_authenticated
