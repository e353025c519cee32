import hashlib
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from accounts.audit import COMMAND, Actor, Subject, record
from accounts.models import ApiToken
from compare.models import Share

PREFIX = "cmk_"  # secret scanners recognise leaked tokens by this prefix


class OtherHost(Exception):
    pass


class NameTaken(ValueError):
    pass


def digest_of(secret: str) -> str:
    # A fast hash is enough: a token has 256 random bits, too many for guessing.
    return hashlib.sha256(secret.encode()).hexdigest()


def _subject(token: ApiToken) -> Subject:
    return Subject("token", token.pk, token.name)


@transaction.atomic
def create_token(
    name: str,
    scope: str,
    expires_days: int | None = None,
    *,
    host_name: str = "",
    made_by: User | None = None,
    by: Actor = COMMAND,
) -> str:
    """Create an API token and return the secret. The database stores only a hash of the secret.

    `host_name`: name of the only host whose runs the token may upload; empty allows all hosts.
    Raise `NameTaken` if a valid token already has the name `name`.
    """
    if any(token.is_valid for token in ApiToken.objects.filter(name=name)):
        raise NameTaken("Another active token has this name. Revoke it, or choose another name.")
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        name=name,
        scope=scope,
        digest=digest_of(secret),
        host_name=host_name,
        made_by=made_by,
        expires_at=timezone.now() + timedelta(days=expires_days) if expires_days else None,
    )
    fields = {"scope": scope, "host_name": host_name, "expires_at": token.expires_at}
    record(by, "token.create", _subject(token), after=fields)
    return secret


@transaction.atomic
def revoke_token(token_pk: int, by: Actor) -> None:
    token = ApiToken.objects.select_for_update(of=("self",)).get(pk=token_pk)
    revoke(token, _subject(token), by)


def revoke(row: ApiToken | Share, subject: Subject, by: Actor) -> None:
    """Revoke an API token or a shared link, and write an audit entry.

    Does nothing if `row` is already revoked. The caller must have locked `row` in the database.
    """
    if row.revoked_at is not None:
        return
    row.revoked_at = timezone.now()
    row.save(update_fields=["revoked_at"])
    revoked = {"revoked_at": row.revoked_at}
    record(by, f"{subject.kind}.revoke", subject, before={"revoked_at": None}, after=revoked)


def end_read_tokens(person: User, by: Actor) -> None:
    """Revoke the read tokens that a user has created. The user's upload tokens remain valid."""
    theirs = ApiToken.objects.filter(made_by=person, scope=ApiToken.Scope.READ, revoked_at=None)
    for key in theirs.values_list("pk", flat=True):
        revoke_token(key, by)


def check_host(token: ApiToken, host: Mapping[str, Any]) -> None:
    """Raise `OtherHost` if the run comes from a host for which the token is not valid.

    `host`: the member `host` of the uploaded run document. `token.host_name` must not be empty.
    """
    name = host["name"].strip()
    if token.host_name != name:
        raise OtherHost(
            f"The token “{token.name}” is restricted to the host “{token.host_name}”, but this run"
            f" is from “{name}”. Use another token."
        )
