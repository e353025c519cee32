"""The settings of sign-in by a company's own accounts: read, and refused where they are unclear."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured

from store.roles import EVERYBODY, ROLES

SHORTEST_SECRET = 20
"""Characters of the secret that the proxy sends: nobody's guesses at it are counted."""


def roles_of_groups(name: str, text: str) -> dict[str, str]:
    """Group -> role, from such as `bench-admins=administrator,bench-editors=editor,*=viewer`."""
    mapping: dict[str, str] = {}
    for entry in (part.strip() for part in text.split(",")):
        group, _, role = (word.strip() for word in entry.rpartition("="))
        if not entry:
            continue
        if not group or role not in ROLES:
            raise ImproperlyConfigured(
                f"{name} has {entry!r}; an entry is GROUP=ROLE, such as bench-admins=administrator,"
                f" and the roles are {', '.join(ROLES)}."
            )
        if group in mapping:
            raise ImproperlyConfigured(f"{name} gives the group {group!r} two roles: name it once.")
        mapping[group] = role
    return mapping


def header_name(name: str, value: str) -> str:
    """The name of an HTTP header, such as X-Forwarded-User; empty where none is set."""
    if not re.fullmatch(r"([A-Za-z0-9]+(-[A-Za-z0-9]+)*)?", value):
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it must be the name of a header such as X-Forwarded-User."
        )
    return value


@dataclass(frozen=True)
class SignInSettings:
    """What was set of both ways to sign in; empty texts for what was not."""

    production: bool
    roles: Mapping[str, str]
    issuer: str
    client_id: str
    client_secret: str
    scopes: str
    user_header: str
    groups_header: str
    proxy_secret: str

    def refuse_faults(self) -> None:
        """Raise `ImproperlyConfigured` that names every fault and what to do about it."""
        faults = [*self._of_oidc(), *self._of_proxy(), *self._of_roles()]
        if faults:
            raise ImproperlyConfigured(" ".join(faults))

    def _of_oidc(self) -> Iterator[str]:
        together = {
            "CIPHERMARK_OIDC_ISSUER": self.issuer,
            "CIPHERMARK_OIDC_CLIENT_ID": self.client_id,
            "CIPHERMARK_OIDC_CLIENT_SECRET": self.client_secret,
        }
        yield from _missing("Sign-in by OpenID Connect", together)
        if self.issuer and not self._is_issuer():
            yield (
                f"CIPHERMARK_OIDC_ISSUER is {self.issuer!r}; it must be the provider's address as"
                " its discovery document has it, such as https://id.example.org/realms/main"
                " (http:// is for development alone)."
            )
        if self.issuer and "openid" not in self.scopes.split():
            yield "CIPHERMARK_OIDC_SCOPES must contain openid, as in: openid profile email groups."

    def _is_issuer(self) -> bool:
        schemes = "https" if self.production else "https?"
        return bool(re.fullmatch(rf"{schemes}://[\w.-]+(:\d{{1,5}})?(/[^\s?#]*)?", self.issuer))

    def _of_proxy(self) -> Iterator[str]:
        together = {
            "CIPHERMARK_PROXY_USER_HEADER": self.user_header,
            "CIPHERMARK_PROXY_SECRET": self.proxy_secret,
        }
        yield from _missing("Sign-in by a proxy", together)
        if self.groups_header and not self.user_header:
            yield "CIPHERMARK_PROXY_GROUPS_HEADER needs CIPHERMARK_PROXY_USER_HEADER: set both."
        if self.proxy_secret and len(self.proxy_secret) < SHORTEST_SECRET:
            yield (
                "CIPHERMARK_PROXY_SECRET is too weak: make it of at least"
                f" {SHORTEST_SECRET} random characters."
            )
        if (
            self.user_header
            and not self.groups_header
            and self.roles
            and EVERYBODY not in self.roles
        ):
            yield (
                "CIPHERMARK_ROLES gives roles to groups alone, and the proxy tells none: set"
                " CIPHERMARK_PROXY_GROUPS_HEADER, or add *=viewer."
            )

    def _of_roles(self) -> Iterator[str]:
        if (self.issuer or self.user_header) and not self.roles:
            yield (
                "CIPHERMARK_ROLES is empty, so nobody could sign in: set it to such as"
                " bench-admins=administrator,bench-editors=editor,*=viewer."
            )


def _missing(what: str, together: Mapping[str, str]) -> Iterator[str]:
    """A sentence where some of the settings that belong together are set, and some are not."""
    missing = [name for name, value in together.items() if not value]
    if missing and len(missing) < len(together):
        given = [name for name in together if name not in missing]
        yield (
            f"{what} needs {' and '.join(missing)} beside {' and '.join(given)}: set all of them,"
            " or none."
        )
