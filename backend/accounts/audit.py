"""Write audit entries. Callers write an entry in the database transaction of the audited change.

The package django-auditlog is not suitable: it misses bulk updates, it cannot record an API token
or a command as the actor, and users can edit the entries.
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
    kind: Kind
    name: str
    key: int | None = None  # primary key of the user or token


COMMAND = Actor(Kind.COMMAND, "manage.py")
ANONYMOUS = Actor(Kind.ANONYMOUS, "not signed in")


def by_provider(issuer: str) -> Actor:
    return Actor(Kind.PROVIDER, issuer)


@dataclass(frozen=True)
class Subject:
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
    """Write an audit entry.

    `before` and `after`: values of the changed fields by name. The values must not contain secrets.
    """
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
