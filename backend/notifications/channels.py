"""Channels made, changed, deleted (in the audit log), and their addresses as people see them."""

import base64
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.utils import timezone

from access.audit import Actor, Subject, record
from exports.messages import SECRET_PREFIX
from store.models import Notification, NotificationChannel
from store.models.notification import TEST

Kind = NotificationChannel.Kind


@dataclass(frozen=True)
class Rule:
    """Which entries a channel is sent, and when."""

    severity: int = NotificationChannel.Severity.WARNING
    hosts: Sequence[str] = ()
    tags: Sequence[str] = ()
    daily: bool = False


def rule_of(channel: NotificationChannel) -> Rule:
    """The rule of a channel."""
    return Rule(channel.severity, channel.hosts, channel.tags, channel.daily)


def shown_address(channel: NotificationChannel) -> str:
    """The recipients, or the URL without what may be secret in it: all behind the host."""
    if channel.kind == Kind.EMAIL:
        return channel.address
    parts = urlsplit(channel.address)
    return f"{parts.scheme}://{parts.netloc}/…"


@transaction.atomic
def make_channel(
    name: str, kind: str, address: str, rule: Rule, *, token: str = "", by: Actor
) -> tuple[NotificationChannel, str]:
    """Store a new channel; with a web hook's new secret, which nothing shows again.

    `token`: what opens a Matrix room, or a topic of ntfy.
    """
    new = ""
    if kind == Kind.WEBHOOK:
        new = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
    channel = NotificationChannel.objects.create(
        name=name,
        kind=kind,
        address=address,
        secret=new or token,
        made_by=by.name[:200],
        **asdict(rule),
    )
    record(by, "channel.create", _subject(channel), after=_facts(channel))
    return channel, new


def change_rule(channel_pk: int, rule: Rule, by: Actor) -> None:
    """Send other entries from now on; what waits already is sent."""
    _change(channel_pk, asdict(rule), by)


def set_paused(channel_pk: int, paused: bool, by: Actor) -> None:
    """Nothing is written for a paused channel, so nothing is made up for afterwards."""
    _change(channel_pk, {"paused": paused}, by)


@transaction.atomic
def delete_channel(channel_pk: int, by: Actor) -> None:
    """Delete a channel with its log and with what waits."""
    channel = NotificationChannel.objects.select_for_update().get(pk=channel_pk)
    record(by, "channel.delete", _subject(channel), before=_facts(channel))
    channel.delete()


@transaction.atomic
def ask_for_test(channel_pk: int, by: Actor) -> None:
    """Have a test message sent, to a paused channel too."""
    channel = NotificationChannel.objects.get(pk=channel_pk)
    Notification.objects.create(
        channel=channel, topic=TEST, title="Test message", due_at=timezone.now()
    )
    record(by, "channel.test", _subject(channel))


@transaction.atomic
def _change(channel_pk: int, values: Mapping[str, Any], by: Actor) -> None:
    channel = NotificationChannel.objects.select_for_update().get(pk=channel_pk)
    before = _facts(channel)
    for name, value in values.items():
        setattr(channel, name, value)
    channel.save(update_fields=list(values))
    record(by, "channel.change", _subject(channel), before, _facts(channel))


def _subject(channel: NotificationChannel) -> Subject:
    return Subject("channel", channel.pk, channel.name)


def _facts(channel: NotificationChannel) -> dict[str, Any]:
    """For the audit log: no secret."""
    return {
        "kind": channel.kind,
        "address": shown_address(channel),
        **asdict(rule_of(channel)),
        "paused": channel.paused,
    }
