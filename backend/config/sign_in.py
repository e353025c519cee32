from collections.abc import Iterator, Mapping
from typing import Any

from environs import ValidationError

from accounts.roles import EVERYBODY, ROLES


def roles_of_groups(text: str) -> dict[str, str]:
    """Parse a comma-separated list of GROUP=ROLE pairs into a dictionary of roles by group.

    Example: `bench-admins=administrator,cn=lab=editor,*=viewer`. A group may contain "=", as in
    `cn=lab`.
    """
    mapping: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        group, _, role = (word.strip() for word in entry.rpartition("="))
        if not group or role not in ROLES:
            raise ValidationError(
                f"{entry!r} is not GROUP=ROLE, such as bench-admins=administrator; the roles are"
                f" {', '.join(ROLES)}."
            )
        if group in mapping:
            raise ValidationError(f"The group {group!r} has two roles. List it only once.")
        mapping[group] = role
    return mapping


def sign_in_faults(settings: Mapping[str, Any]) -> Iterator[str]:
    oidc, proxy = settings["CIPHERMARK_OIDC_ISSUER"], settings["CIPHERMARK_PROXY_USER_HEADER"]
    roles, groups = settings["CIPHERMARK_ROLES"], settings["CIPHERMARK_PROXY_GROUPS_HEADER"]
    yield from _missing(
        {
            "CIPHERMARK_OIDC_ISSUER": oidc,
            "CIPHERMARK_OIDC_CLIENT_ID": settings["OIDC_RP_CLIENT_ID"],
            "CIPHERMARK_OIDC_CLIENT_SECRET": settings["OIDC_RP_CLIENT_SECRET"],
        }
    )
    secret = settings["CIPHERMARK_PROXY_SECRET"]
    yield from _missing({"CIPHERMARK_PROXY_USER_HEADER": proxy, "CIPHERMARK_PROXY_SECRET": secret})
    if oidc and "openid" not in settings["OIDC_RP_SCOPES"].split():
        yield "CIPHERMARK_OIDC_SCOPES must contain openid, as in: openid profile email groups."
    if (oidc or proxy) and not roles:
        yield (
            "CIPHERMARK_ROLES is empty, so no one can sign in. Set it, for example to"
            " bench-admins=administrator,bench-editors=editor,*=viewer."
        )
    elif proxy and not groups and EVERYBODY not in roles:
        yield (
            "CIPHERMARK_ROLES has roles only for groups, but the proxy sends no groups. Set"
            " CIPHERMARK_PROXY_GROUPS_HEADER, or add *=viewer."
        )


def _missing(together: Mapping[str, str]) -> Iterator[str]:
    missing = [name for name, value in together.items() if not value]
    if missing and len(missing) < len(together):
        given = [name for name in together if name not in missing]
        yield f"{' and '.join(given)} requires {' and '.join(missing)}. Set all of them, or none."
