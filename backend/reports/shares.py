"""Unlisted links to one comparison view: made, found by their secret, revoked."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from access.audit import Actor, Subject, record
from access.tokens import digest_of, revoke
from store.models import Share

LONGEST_DAYS = 365
"""A link that never ends would be forgotten."""


def _subject(share: Share) -> Subject:
    return Subject("share", share.pk, share.name)


@transaction.atomic
def make_share(
    name: str, query: str, expires_days: int, *, made_by: User | None, by: Actor
) -> tuple[Share, str]:
    """Store a share of a checked query string; its secret, which nothing can show again."""
    secret = secrets.token_urlsafe(32)
    share = Share.objects.create(
        name=name,
        query=query,
        digest=digest_of(secret),
        made_by=made_by,
        expires_at=timezone.now() + timedelta(days=expires_days),
    )
    made = {"query": query, "expires_at": share.expires_at}
    record(by, "share.create", _subject(share), after=made)
    return share, secret


def find_share(secret: str) -> Share | None:
    """The valid share with this secret; None for any other text."""
    share = Share.objects.filter(digest=digest_of(secret)).first()
    return share if share is not None and share.is_valid else None


@transaction.atomic
def revoke_share(share_pk: int, by: Actor) -> None:
    """End a link now. Revoking it again changes nothing."""
    share = Share.objects.select_for_update(of=("self",)).get(pk=share_pk)
    revoke(share, _subject(share), by)
