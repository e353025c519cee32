"""Write the audit log in the transaction of each change.

django-auditlog is not used. It follows `save()` of models and therefore misses bulk updates, it
records only users (no tokens or commands), and its rows are editable.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest
from rest_framework.request import Request

from accounts.models import ApiToken, AuditEntry

Kind = AuditEntry.ActorKind


@dataclass(frozen=True)
class Actor:
    """Identify the author of a change; `key` is the primary key of the user or token."""

    kind: Kind
    name: str
    key: int | None = None


COMMAND = Actor(Kind.COMMAND, "manage.py")
ANONYMOUS = Actor(Kind.ANONYMOUS, "not signed in")


def by_provider(issuer: str) -> Actor:
    """Return the actor of changes that an identity provider or proxy causes at sign-in."""
    return Actor(Kind.PROVIDER, issuer)


@dataclass(frozen=True)
class Subject:
    """Identify a changed object by its name and key at the time of the change."""

    kind: str
    key: object
    name: str

    @classmethod
    def of(cls, row: Model) -> Self:
        return cls(str(row._meta.model_name), row.pk, str(row))


def by_person(user: User) -> Actor:
    return Actor(Kind.PERSON, user.get_username(), user.pk)


def actor_of(request: Request | HttpRequest) -> Actor:
    token = getattr(request, "auth", None)
    if isinstance(token, ApiToken):
        return Actor(Kind.TOKEN, token.name, token.pk)
    user = request.user
    return by_person(user) if isinstance(user, User) else ANONYMOUS


def record(
    actor: Actor,
    action: str,
    subject: Subject,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry in the current transaction. It must not contain secrets."""
    AuditEntry.objects.create(
        actor_kind=actor.kind,
        actor=actor.name[:200],
        actor_key=actor.key,
        action=action,
        object_kind=subject.kind,
        object_key=str(subject.key)[:100],
        object_name=subject.name[:300],
        before=before,
        after=after,
    )
