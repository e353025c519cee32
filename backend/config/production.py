"""What a production site refuses to start with."""

from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured

MINIMUM_SECRET_LENGTH = 32
"""Characters; shorter keys can be guessed offline from one signed cookie."""

KNOWN_SECRETS = frozenset({"changeme", "change-me", "secret", "django-insecure", "please-change"})


def _is_weak(secret_key: str) -> bool:
    lowered = secret_key.lower()
    return (
        len(secret_key) < MINIMUM_SECRET_LENGTH
        or len(set(secret_key)) < 8
        or any(known in lowered for known in KNOWN_SECRETS)
    )


def refuse_weak_configuration(
    *,
    secret_key: str,
    debug: bool,
    allowed_hosts: Sequence[str],
    database_url: str,
    redis_url: str,
) -> None:
    """Raise `ImproperlyConfigured`, naming every fault at once, unless the settings are safe."""
    faults = []
    if not secret_key:
        faults.append("CIPHERMARK_SECRET_KEY is missing")
    elif _is_weak(secret_key):
        faults.append(
            f"CIPHERMARK_SECRET_KEY is too weak: at least {MINIMUM_SECRET_LENGTH} random characters"
        )
    if debug:
        faults.append("CIPHERMARK_DEBUG is on")
    if not allowed_hosts:
        faults.append("CIPHERMARK_ALLOWED_HOSTS is empty")
    elif "*" in allowed_hosts:
        faults.append("CIPHERMARK_ALLOWED_HOSTS allows every host (*)")
    if not database_url:
        faults.append("DATABASE_URL is missing (the embedded PostgreSQL is for development)")
    if not redis_url:
        faults.append("REDIS_URL is missing (the embedded Redis is for development)")
    if faults:
        raise ImproperlyConfigured("Production refuses to start: " + "; ".join(faults) + ".")
