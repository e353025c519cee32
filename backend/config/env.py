import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from django.core.exceptions import ImproperlyConfigured
from environs import EnvValidationError, FileAwareEnv, ValidationError

PREFIX = "CIPHERMARK_"

# CIPHERMARK_ variables that are not settings of the site.
READ_ELSEWHERE = frozenset(
    {
        "CIPHERMARK_LISTEN",  # this and the next two: docker-compose.yml
        "CIPHERMARK_WEB_MEMORY",
        "CIPHERMARK_BACKUPS_KEEP",
        "CIPHERMARK_VENV",  # `make`
        "CIPHERMARK_LAUNCHED_FOR",  # environment of processes of `make run`
        "CIPHERMARK_TEST_SSHD",  # the tests
        "CIPHERMARK_SERVER",  # this and the next: used by the agent
        "CIPHERMARK_TOKEN",
    }
)


def refuse(faults: Iterable[str]) -> None:
    if said := "; ".join(faults):
        raise ImproperlyConfigured(f"Ciphermark cannot start: {said}")


class Env(FileAwareEnv):
    def __init__(self) -> None:
        super().__init__(eager=False)

    def _get_value(self, env_key: str, default: Any) -> Any:
        try:
            value = super()._get_value(env_key, default)
        except ValueError as error:
            raise ImproperlyConfigured(f"{env_key}_FILE: {error}") from None
        # docker-compose.yml passes variables without a value as empty variables.
        return (value.strip() or default) if isinstance(value, str) else value

    def refuse_faults(self) -> None:
        try:
            self.seal()
        except EnvValidationError as error:
            messages = cast(Mapping[str, list[str]], error.error_messages)
            faults = (f"{name}: {' '.join(texts)}" for name, texts in messages.items())
            raise ImproperlyConfigured(" ".join(faults)) from None

    def unknown(self) -> list[str]:
        """Return a warning for each environment variable CIPHERMARK_* that is not a setting."""
        read = {name for name in self.dump() if name.startswith(PREFIX)}
        known = read | {f"{name}{self.file_suffix}" for name in read} | READ_ELSEWHERE
        sentences = []
        for name in sorted(os.environ):
            if name.startswith(PREFIX) and name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.7)
                hint = f"; did you mean {near[0]}?" if near else "."
                sentences.append(f"{name} is not a setting and has no effect{hint}")
        return sentences


def address(value: str) -> SplitResult:
    """Parse and validate a URL.

    The error message does not quote the URL, because the URL may contain a password.
    """
    try:
        parts = urlsplit(value)
        # After an unescaped / or # in a password, the rest is parsed as path or fragment.
        is_cut_wrongly = parts.fragment or "@" in parts.path or parts.port == 0
    except ValueError:  # invalid port
        is_cut_wrongly = True
    if is_cut_wrongly:
        raise ValidationError(
            "Invalid URL. Encode these characters in the password: / ? # [ ] @ : %"
            " as %2F %3F %23 %5B %5D %40 %3A %25."
        )
    return parts


def postgres_address(value: str) -> None:
    parts = address(value)
    if parts.scheme not in ("postgresql", "postgres") or not parts.path.strip("/"):
        raise ValidationError(
            "The URL must have the form postgresql://USER:PASSWORD@HOST:5432/DATABASE."
        )


def redis_address(value: str) -> None:
    if address(value).scheme not in ("redis", "rediss", "unix"):
        raise ValidationError(
            "The URL must have the form redis://:PASSWORD@HOST:6379/0, rediss://... (with TLS) or"
            " unix:///PATH."
        )


def clickhouse_address(value: str) -> None:
    parts = address(value)
    if (
        parts.scheme not in ("clickhouse", "clickhouses")
        or not parts.hostname
        or not re.fullmatch(r"/[A-Za-z_][A-Za-z0-9_]*", parts.path)
        or parts.query
    ):
        raise ValidationError(
            "The URL must have the form clickhouse://USER:PASSWORD@HOST:8123/DATABASE"
            " (clickhouses:// with TLS, port 8443)."
        )
