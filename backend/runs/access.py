"""Who may read: signed-in people, read tokens, and everybody on a public site."""

from django.conf import settings
from django.http import HttpRequest


def reading_allowed(request: HttpRequest) -> bool:
    """Whether a browser may see pages: signed in, or the site is public."""
    return bool(settings.CIPHERMARK_PUBLIC) or request.user.is_authenticated
