import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

MINIMUM_SECRET_LENGTH = 50  # characters, as `check --deploy` requires

MINIMUM_TOKEN_LENGTH = 20  # characters; /metrics has no rate limit

KNOWN_SECRETS = ("changeme", "change-me", "secret", "django-insecure", "please-change")
# Passwords in examples and default installations.
KNOWN_PASSWORDS = ("", *KNOWN_SECRETS, "password", "postgres", "ciphermark", "redis", "root")


def weaknesses(settings: Mapping[str, Any]) -> Iterator[str]:
    key, hosts = settings["SECRET_KEY"], settings["ALLOWED_HOSTS"]
    if not key:
        yield "CIPHERMARK_SECRET_KEY is missing"
    elif (
        len(key) < MINIMUM_SECRET_LENGTH
        or len(set(key)) < 8
        or any(known in key.lower() for known in KNOWN_SECRETS)
    ):
        wanted = f"at least {MINIMUM_SECRET_LENGTH} random characters"
        yield f"CIPHERMARK_SECRET_KEY is too weak (use {wanted})"
    if settings["DEBUG"]:
        yield "CIPHERMARK_DEBUG is on"
    if not hosts:
        yield "CIPHERMARK_ALLOWED_HOSTS is empty"
    elif any(host.count(".") < 2 for host in hosts if host.startswith((".", "*"))):
        yield "CIPHERMARK_ALLOWED_HOSTS allows every host (*) or a whole top-level domain"
    for name in ("DATABASE_URL", "REDIS_URL"):
        if not settings[name]:
            yield f"{name} is missing (the embedded servers are for development)"
        elif _has_known_password(settings[name]):
            yield f"{name} has a well-known password"
    if 0 < len(settings["CIPHERMARK_METRICS_TOKEN"]) < MINIMUM_TOKEN_LENGTH:
        yield f"CIPHERMARK_METRICS_TOKEN has fewer than {MINIMUM_TOKEN_LENGTH} characters"


def _has_known_password(url: str) -> bool:
    parts = urlsplit(url)
    password = unquote(parts.password or "").lower()
    return bool(password) and password in (*KNOWN_PASSWORDS, (parts.username or "").lower())


def development_secret_key(data_dir: Path) -> str:
    path = data_dir / "secret-key"
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        draft = data_dir / f"secret-key.{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600), "w") as stream:
            stream.write(secrets.token_urlsafe(48))
        # link() fails if the name exists, so concurrent processes use the same key.
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_text().strip()
