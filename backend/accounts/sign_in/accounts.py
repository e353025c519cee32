"""Create and update the accounts of users who sign in through an identity provider or a proxy.

The issuer and the subject identify an account. A name or email address does not, because a user who
can choose a name at the provider could take over a local account.
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

LOCK = 7103  # number of a PostgreSQL advisory lock

# Of NAME and of HOST: the user name NAME@HOST-2 must fit in 150 characters.
LONGEST_NAME = 60

MOST_GROUPS = 50  # in an audit entry


@dataclass(frozen=True)
class ExternalPerson:
    issuer: str
    subject: str
    name: str  # only for display
    groups: frozenset[str]

    @property
    def role(self) -> str | None:
        """Return the most powerful role that CIPHERMARK_ROLES grants to the groups of this user.

        Return None if CIPHERMARK_ROLES grants no role.
        """
        mapping = settings.CIPHERMARK_ROLES
        given = {mapping[group] for group in {*self.groups, EVERYBODY} if group in mapping}
        return next((role for role in reversed(ROLES) if role in given), None)


class SignInRefused(Exception):
    def __init__(self, words: str, external: ExternalPerson) -> None:
        super().__init__(words)
        self.external = external


def record_refusal(refused: SignInRefused) -> None:
    external = refused.external
    # An administrator needs the groups to correct CIPHERMARK_ROLES.
    stated = {"subject": external.subject, "groups": sorted(external.groups)[:MOST_GROUPS]}
    subject = Subject("account", external.subject, external.name)
    record(by_provider(external.issuer), "sign-in.refused", subject, after=stated)


@dataclass(frozen=True)
class Rights:
    roles: frozenset[str]
    is_superuser: bool = False  # a provider cannot grant it

    def as_json(self) -> dict[str, object]:
        return {"roles": sorted(self.roles)} | ({"superuser": True} if self.is_superuser else {})


def account_of(external: ExternalPerson) -> User:
    """Return the account of an external user, with the role that the user's groups grant.

    Create the account at the first sign-in. Raise `SignInRefused` if the subject is invalid, if
    the account is deactivated, or if no group grants a role. Without a role, the account also loses
    the role of the previous sign-in.
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
    # The first page of a new user sends parallel requests, which could create duplicates.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    person = _find(external)
    if person is None and wanted.roles:
        person = _make(external)
    if person is not None and _rights(person) != wanted:
        _change(person, wanted, external.issuer)
    return person


def _make(external: ExternalPerson) -> User:
    free = (name for name in _candidate_names(external) if not _is_taken(name))
    person = User.objects.create_user(next(free))
    ExternalIdentity.objects.create(person=person, issuer=external.issuer, subject=external.subject)
    identity = {"issuer": external.issuer, "subject": external.subject}
    record(by_provider(external.issuer), "account.create", Subject.of(person), after=identity)
    return person


def _candidate_names(external: ExternalPerson) -> Iterator[str]:
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
