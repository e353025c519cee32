"""What a production site refuses to start with: weak secrets, known passwords, any host."""

from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

MINIMUM_SECRET_LENGTH = 50
"""Characters, as `check --deploy` asks; short keys can be guessed from one signed cookie."""

MINIMUM_TOKEN_LENGTH = 20
"""Characters of the token of /metrics, at which nobody's guesses are counted."""

KNOWN_SECRETS = frozenset({"changeme", "change-me", "secret", "django-insecure", "please-change"})


def _is_weak(secret_key: str) -> bool:
    lowered = secret_key.lower()
    return (
        len(secret_key) < MINIMUM_SECRET_LENGTH
        or len(set(secret_key)) < 8
        or any(known in lowered for known in KNOWN_SECRETS)
    )


WELL_KNOWN_PASSWORDS = KNOWN_SECRETS | {
    "password",
    "postgres",
    "ciphermark",
    "redis",
    "root",
    "admin",
}
"""Of examples and default installations."""


def _weak_password(url: str) -> bool:
    """Whether the URL has a password that anybody would try; none at all is the server's rule."""
    parts = urlsplit(url)
    password = unquote(parts.password or "").lower()
    return bool(password) and password in WELL_KNOWN_PASSWORDS | {(parts.username or "").lower()}


def refuse_weak_configuration(
    *,
    secret_key: str,
    debug: bool,
    allowed_hosts: Sequence[str],
    database_url: str,
    redis_url: str,
    replica_url: str = "",
    metrics_token: str = "",
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
    elif any(
        host.strip(".") in ("*", "") or (host.startswith(".") and host.count(".") < 2)
        for host in allowed_hosts
    ):
        faults.append("CIPHERMARK_ALLOWED_HOSTS allows every host (*) or a whole top-level domain")
    if not database_url:
        faults.append("DATABASE_URL is missing (the embedded PostgreSQL is for development)")
    if not redis_url:
        faults.append("REDIS_URL is missing (the embedded Redis is for development)")
    if metrics_token and len(metrics_token) < MINIMUM_TOKEN_LENGTH:
        faults.append(
            f"CIPHERMARK_METRICS_TOKEN is too weak: at least {MINIMUM_TOKEN_LENGTH} characters"
        )
    urls = {
        "DATABASE_URL": database_url,
        "DATABASE_REPLICA_URL": replica_url,
        "REDIS_URL": redis_url,
    }
    for name, url in urls.items():
        if _weak_password(url):
            faults.append(f"{name} has a password that is well known")
    if faults:
        raise ImproperlyConfigured("Production refuses to start: " + "; ".join(faults) + ".")
