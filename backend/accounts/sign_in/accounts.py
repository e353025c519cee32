"""Create accounts for users of a provider or proxy, and set their roles.

An account belongs to an issuer and a subject. Names and email addresses never identify an account,
because a user who can choose them at the provider could take over a local account.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import connection, transaction

from accounts.audit import Subject, by_provider, record
from accounts.models import ExternalIdentity
from accounts.roles import EVERYBODY, ROLES
from accounts.tokens import end_read_tokens

LOCK = 7103
"""PostgreSQL advisory lock for creating and changing these accounts."""

LONGEST_NAME = 60
"""Maximum length of the displayed name. The issuer's host is appended to it."""

MOST_GROUPS = 50
"""Maximum number of groups in an audit entry."""


@dataclass(frozen=True)
class ExternalPerson:
    """Identify a user authenticated by an issuer. The name is only for display."""

    issuer: str
    subject: str
    name: str
    groups: frozenset[str]

    @property
    def role(self) -> str | None:
        """Return the highest role that CIPHERMARK_ROLES grants, or None."""
        mapping = settings.CIPHERMARK_ROLES
        given = {mapping[group] for group in {*self.groups, EVERYBODY} if group in mapping}
        return next((role for role in reversed(ROLES) if role in given), None)


class SignInRefused(Exception):
    """Raised when a sign-in is refused; the user sees the message."""

    def __init__(self, words: str, external: ExternalPerson) -> None:
        super().__init__(words)
        self.external = external


def record_refusal(refused: SignInRefused) -> None:
    """Record a refusal and the provider's groups, to help correct CIPHERMARK_ROLES."""
    external = refused.external
    stated = {"subject": external.subject, "groups": sorted(external.groups)[:MOST_GROUPS]}
    subject = Subject("account", external.subject, external.name)
    record(by_provider(external.issuer), "sign-in.refused", subject, after=stated)


@dataclass(frozen=True)
class Rights:
    """Describe the permissions of an account. Superusers are created manually."""

    roles: frozenset[str]
    is_superuser: bool = False

    def as_json(self) -> dict[str, object]:
        return {"roles": sorted(self.roles)} | ({"superuser": True} if self.is_superuser else {})


def account_of(external: ExternalPerson) -> User:
    """Return the user's account with the role of its groups, creating it at the first sign-in.

    Raises `SignInRefused` for a deactivated account. Also raises it if no group has a role; the
    account then loses its role.
    """
    if not 0 < len(external.subject) <= ExternalIdentity.LONGEST_SUBJECT:
        words = "The provider sent no valid user ID. Ask the administrator for help."
        raise SignInRefused(words, external)
    wanted = Rights(frozenset({external.role} if external.role else ()))
    person = _find(external)
    if person is None or _rights(person) != wanted:
        person = _bring_up_to_date(external, wanted)
    if person is None or not wanted.roles:
        raise SignInRefused(
            f"You are signed in as {external.name}, but none of your groups has a role on this"
            " site. Ask the administrator to add you to a group with a role.",
            external,
        )
    if not person.is_active:
        words = (
            f"The account {person.username} is deactivated on this site. Ask the server"
            " administrator to activate it."
        )
        raise SignInRefused(words, external)
    return person


def _find(external: ExternalPerson) -> User | None:
    known = ExternalIdentity.objects.select_related("person")
    account = known.filter(issuer=external.issuer, subject=external.subject).first()
    return account.person if account else None


def _rights(person: User) -> Rights:
    roles = person.groups.filter(name__in=ROLES).values_list("name", flat=True)
    return Rights(frozenset(roles), person.is_superuser)


@transaction.atomic
def _bring_up_to_date(external: ExternalPerson, wanted: Rights) -> User | None:
    """Update the account's role; return None for a new user without a role.

    The lock prevents duplicates, because the first page of a new user sends parallel requests.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    person = _find(external)
    if person is None and wanted.roles:
        person = _make(external)
    if person is not None and _rights(person) != wanted:
        _change(person, wanted, external.issuer)
    return person


def _make(external: ExternalPerson) -> User:
    free = (name for name in _names(external) if not _is_taken(name))
    person = User.objects.create_user(next(free))
    ExternalIdentity.objects.create(person=person, issuer=external.issuer, subject=external.subject)
    identity = {"issuer": external.issuer, "subject": external.subject}
    record(by_provider(external.issuer), "account.create", Subject.of(person), after=identity)
    return person


def _names(external: ExternalPerson) -> Iterator[str]:
    """Yield candidate user names: the requested one, then variants in case it is taken."""
    given = re.sub(r"[^\w.@+-]+", "_", User.normalize_username(external.name))
    name = given[:LONGEST_NAME] or "person"
    yield name
    host = (urlsplit(external.issuer).hostname or external.issuer)[:LONGEST_NAME]
    yield f"{name}@{host}"
    for number in count(2):
        yield f"{name}@{host}-{number}"


def _is_taken(name: str) -> bool:
    # Users could mistake "Root" for "root".
    return User.objects.filter(username__iexact=name).exists()


def _change(person: User, wanted: Rights, issuer: str) -> None:
    before = _rights(person)
    person.groups.remove(*Group.objects.filter(name__in=ROLES))
    person.groups.add(*Group.objects.filter(name__in=wanted.roles))
    person.is_superuser = False
    if not wanted.roles:
        # A new unusable password ends all sessions.
        person.set_unusable_password()
        end_read_tokens(person, by_provider(issuer))
    person.save(update_fields=["is_superuser", "password"])
    after = wanted.as_json()
    record(by_provider(issuer), "account.role", Subject.of(person), before.as_json(), after)
