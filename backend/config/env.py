"""Settings from the environment: read once, typed; nonsense is refused, misspelt names told."""

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg.pq import Conninfo

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"", "0", "false", "no", "off"})

POSTGRES = ("postgresql", "postgres")
DJANGO_OPTIONS = frozenset(
    {
        "assume_role",
        "currentSchema",  # dj-database-url's
        "isolation_level",
        "pool",
        "prepare_threshold",  # psycopg's
        "server_side_binding",
    }
)
"""Options of a database's address that are not PostgreSQL's own, and work in one."""
REDIS = ("redis", "rediss", "unix")

LEAST_MEGABYTES = 50
"""Of memory: less is a mistake of the unit."""

MOST_DAYS = 100_000
"""Three centuries: dates end somewhere."""

PREFIX = "CIPHERMARK_"
"""Of every setting of ours."""

READ_ELSEWHERE = frozenset(
    {
        "CIPHERMARK_LISTEN",  # docker-compose.yml, as are the next two
        "CIPHERMARK_WEB_MEMORY",
        "CIPHERMARK_BACKUPS_KEEP",
        "CIPHERMARK_VENV",  # `make`
        "CIPHERMARK_LAUNCHED_FOR",  # the mark of what `make run` starts
        "CIPHERMARK_LOCK_DESCRIPTOR",  # between `make run` and its parts
        "CIPHERMARK_TEST_SSHD",  # the tests
        "CIPHERMARK_SERVER",  # the agent's, as is the next
        "CIPHERMARK_TOKEN",
    }
)
"""Settings of ours that are none of the site's."""


class Env:
    """Typed reading of environment variables.

    Every error is an `ImproperlyConfigured` that names the variable and what it may be. The names
    that were read are the list of settings: `unknown` compares the environment with it.
    """

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        self._variables = os.environ if variables is None else variables
        self._read: set[str] = set()

    def _value(self, name: str) -> str | None:
        self._read.add(name)
        return self._variables.get(name)

    def unknown(self) -> list[str]:
        """A sentence about each variable of ours that nobody reads, with the nearest setting."""
        known = {name for name in self._read if name.startswith(PREFIX)} | READ_ELSEWHERE
        sentences = []
        for name in sorted(self._variables):
            if name.startswith(PREFIX) and name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.7)
                hint = f"; did you mean {near[0]}?" if near else "."
                sentences.append(f"{name} is no setting of this version and has no effect{hint}")
        return sentences

    def text(self, name: str, default: str = "") -> str:
        """The variable without surrounding blanks, or the default."""
        value = self._value(name)
        return default if value is None else value.strip()

    def secret(self, name: str) -> str:
        """The variable, or what the file holds that NAME_FILE names; empty for neither."""
        value, file = self.text(name), self.text(f"{name}_FILE")
        if not file:
            return value
        if value:
            raise ImproperlyConfigured(
                f"{name} and {name}_FILE are both set: one of them is to go."
            )
        try:
            content = Path(file).read_text("utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{name}_FILE names {file}, which cannot be read: {error.strerror}."
            ) from None
        except ValueError:
            content = ""
        if not content:
            raise ImproperlyConfigured(f"{name}_FILE names {file}, which holds no text.")
        return content

    def url(self, name: str) -> str:
        """An address with a password in it, perhaps: what is wrong with it is said without it."""
        value = self.secret(name)
        try:
            parts = urlsplit(value)
            # What follows an unescaped / or # of a password is read as path or fragment.
            is_cut_wrongly = parts.fragment or "@" in parts.path or parts.port == 0
        except ValueError:  # of the port
            is_cut_wrongly = True
        if is_cut_wrongly:
            raise ImproperlyConfigured(
                f"{name} is no valid address. In its password the characters / ? # [ ] @ : % are"
                " written as %2F %3F %23 %5B %5D %40 %3A %25."
            )
        return value

    def postgres_url(self, name: str) -> str:
        """The address of a database of PostgreSQL."""
        value = self.url(name)
        parts = urlsplit(value)
        if value and not (parts.scheme in POSTGRES and parts.path.strip("/")):
            raise ImproperlyConfigured(
                f"{name} must be written as postgresql://USER:PASSWORD@HOST:5432/DATABASE."
            )
        known = {option.keyword.decode() for option in Conninfo.get_defaults()} | DJANGO_OPTIONS
        unknown = sorted(parse_qs(parts.query, keep_blank_values=True).keys() - known)
        if unknown:
            raise ImproperlyConfigured(
                f"{name} ends with {', '.join(unknown)}, which PostgreSQL's client does not know;"
                " sslmode is one that it knows."
            )
        return value

    def redis_url(self, name: str) -> str:
        """The address of a Redis server, perhaps by TLS or by a socket of this machine."""
        value = self.url(name)
        if value and urlsplit(value).scheme not in REDIS:
            raise ImproperlyConfigured(
                f"{name} must be written as redis://:PASSWORD@HOST:6379/0, rediss://... for TLS or"
                " unix:///PATH."
            )
        return value

    def sub_path(self, name: str) -> str:
        """A path below which the site lies, such as /bench; empty for the top of its host."""
        value = self.text(name).rstrip("/")
        if not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", value):
            raise ImproperlyConfigured(
                f"{name} is {value!r}; it must be a path such as /bench, of letters, digits and"
                " . _ ~ - alone."
            )
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """1/true/yes/on or 0/false/no/off."""
        value = self._value(name)
        if value is None:
            return default
        if value.strip().lower() in TRUE:
            return True
        if value.strip().lower() in FALSE:
            return False
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be 1 or 0.")

    def memory(self, name: str, default: str) -> str:
        """An amount of memory with its unit, such as 500MB or 2GB."""
        value = self.text(name) or default
        found = re.fullmatch(r"([0-9]{1,6})(MB|GB)", value)
        if not found or int(found[1]) * (1000 if found[2] == "GB" else 1) < LEAST_MEGABYTES:
            raise ImproperlyConfigured(
                f"{name} is {value!r}; it must be an amount such as 500MB or 2GB,"
                f" {LEAST_MEGABYTES}MB at least."
            )
        return value

    def days(self, name: str) -> int | None:
        """A number of days of at least 1; None where the variable is unset or empty."""
        value = self.text(name)
        if not value:
            return None
        if not (
            value.isascii() and value.isdigit() and len(value) < 10 and 0 < int(value) <= MOST_DAYS
        ):
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be 1 to {MOST_DAYS} days.")
        return int(value)

    def number(self, name: str, default: int) -> int:
        """A whole number, 0 or more."""
        value = self.text(name) or str(default)
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be a whole number from 0.")
        return int(value)

    def names(self, name: str) -> list[str]:
        """A comma-separated list, empty entries dropped."""
        return [part.strip() for part in self.text(name).split(",") if part.strip()]

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of the choices, in capitals or not; the first is the default."""
        value = self.text(name).lower() or choices[0]
        if value not in choices:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be {' or '.join(choices)}.")
        return value
