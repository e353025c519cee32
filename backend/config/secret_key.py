"""The development site's own secret key, made once and kept beside its data."""

import os
import secrets
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def development_secret_key(data_dir: Path, database_url: str = "") -> str:
    """The key in `data_dir`/secret-key, made (mode 0600) at the first start.

    Raises `ImproperlyConfigured` where the database is on another machine: others may use it too,
    and sessions that one of them signs are good on all by the same key alone.
    """
    if not _is_here(database_url):
        raise ImproperlyConfigured(
            "CIPHERMARK_SECRET_KEY is not set, and DATABASE_URL is on another machine: set the same"
            " key on every machine of the site (.env.example says how to make one)."
        )
    path = data_dir / "secret-key"
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        draft = data_dir / f"secret-key.{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600), "w") as stream:
            stream.write(secrets.token_urlsafe(48))
        # link() takes the name only when it is free: of two first starts, both use one key.
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_text().strip()


def _is_here(database_url: str) -> bool:
    """Whether the database is on this machine, by a socket or an address of its own."""
    parts = urlsplit(database_url)
    asked = parse_qs(parts.query)
    named = unquote(parts.hostname or "") or ",".join(asked.get("host", []))
    hosts = [*named.split(","), *",".join(asked.get("hostaddr", [])).split(",")]
    return all(_is_own(host) for host in hosts if host)


def _is_own(host: str) -> bool:
    if host == "localhost" or host.startswith("/"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
