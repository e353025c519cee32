"""Making and recognising API tokens.

A token is 256 random bits, so a plain SHA-256 protects it as well as a password hash would,
at no cost to each request.
"""

import hashlib
import secrets
from datetime import timedelta

from django.utils import timezone

from runs.models import ApiToken

PREFIX = "cmk_"
"""Makes a leaked token recognisable to secret scanners and people."""

LAST_USED_RESOLUTION = timedelta(minutes=1)
"""`last_used_at` is written at most this often: an upload must not wait for it."""


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def create_token(name: str, scope: str, expires_days: int | None = None) -> str:
    """Store a new token and return its secret, which nothing can show again."""
    secret = PREFIX + secrets.token_urlsafe(32)
    expires_at = timezone.now() + timedelta(days=expires_days) if expires_days else None
    ApiToken.objects.create(name=name, scope=scope, digest=_digest(secret), expires_at=expires_at)
    return secret


def find_token(secret: str) -> ApiToken | None:
    """The valid token with this secret, marked as used; None for any other text."""
    token = ApiToken.objects.filter(digest=_digest(secret)).first()
    if token is None or not token.is_valid:
        return None
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > LAST_USED_RESOLUTION:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token
