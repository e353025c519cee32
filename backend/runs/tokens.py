"""Making and recognising API tokens.

A token is 256 random bits, so a plain SHA-256 protects it as well as a password hash would,
at no cost to each request.
"""

import hashlib
import secrets
from datetime import timedelta
from functools import cache

from django.db import connection
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
    token = _stored_token(_digest(secret))
    if token is None or not token.is_valid:
        return None
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > LAST_USED_RESOLUTION:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


@cache
def _select() -> str:
    columns = ", ".join(f'"{field.column}"' for field in ApiToken._meta.concrete_fields)
    return f"SELECT {columns} FROM runs_apitoken WHERE digest = %s"  # noqa: S608 - names of columns


def _stored_token(digest: str) -> ApiToken | None:
    """By a statement made once: every request of a program begins with it."""
    with connection.cursor() as cursor:
        cursor.execute(_select(), [digest])
        row = cursor.fetchone()
    if row is None:
        return None
    names = [field.attname for field in ApiToken._meta.concrete_fields]
    return ApiToken.from_db(connection.alias, names, row)
