"""Messages about entries of /changes/ and rejected runs: as text, and as the JSON of web hooks."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCHEMA = "ciphermark/notification/1"
SECRET_PREFIX = "whsec_"  # noqa: S105 - it marks secrets, and is none
"""Before the Base64 of a key, as https://www.standardwebhooks.com has it."""


MOST_TEXT = 30_000
"""Bytes: Slack cuts at 40,000 characters, Matrix refuses events of 64 KiB."""

NTFY_TEXT = 4000
"""Bytes: ntfy makes a file of anything longer than 4,096."""

MORE_BYTES = 30
"""Of the line that says how many entries are left out."""


@dataclass(frozen=True)
class Notice:
    """One entry: `title` in a few words, `facts` a line each, `url` where the evidence is.

    `id` is the same in every attempt to send it; `at` is RFC 3339.
    """

    id: int
    topic: str
    severity: str
    title: str
    facts: tuple[str, ...]
    url: str
    at: str
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Message:
    """What one request or e-mail says; `list_url` is where all changes are listed."""

    notices: Sequence[Notice]
    list_url: str
    daily: bool = False

    @property
    def id(self) -> str:
        """The same for the same entries, so that a receiver can tell a repetition."""
        return f"ciphermark-{self.notices[0].id}-{self.notices[-1].id}-{len(self.notices)}"

    @property
    def subject(self) -> str:
        """One line."""
        if self.daily:
            return f"Ciphermark, the last day: {_count(self.notices)}"
        first = self.notices[0]
        more = f" and {len(self.notices) - 1} more" if len(self.notices) > 1 else ""
        return _one_line(f"Ciphermark: {first.title}{more}")


def as_text(message: Message, most: int = MOST_TEXT) -> str:
    """Plain text, an entry a paragraph, of at most so many bytes."""
    rest = f"All changes: {message.list_url}\n"
    parts: list[str] = []
    room = most - len(rest.encode()) - MORE_BYTES
    for one in message.notices:
        part = "\n".join((one.title, *one.facts, one.url)) + "\n\n"
        room -= len(part.encode())
        if room < 0:
            break
        parts.append(part)
    left = len(message.notices) - len(parts)
    if left:
        parts.append(f"and {left} more\n\n" if parts else f"{_count(message.notices)}\n\n")
    return "".join(parts) + rest


def webhook_json(message: Message) -> dict[str, Any]:
    """The generic shape."""
    return {
        "schema": SCHEMA,
        "id": message.id,
        "daily": message.daily,
        "subject": message.subject,
        "list_url": message.list_url,
        "entries": [
            {
                "id": one.id,
                "topic": one.topic,
                "severity": one.severity,
                "title": one.title,
                "facts": list(one.facts),
                "hosts": list(one.hosts),
                "at": one.at,
                "url": one.url,
            }
            for one in message.notices
        ],
    }


def slack_json(message: Message) -> dict[str, Any]:
    """For incoming web hooks of Slack, and what takes the same, such as Mattermost."""
    text = f"{message.subject}\n\n{as_text(message)}"
    # Otherwise a host could be named <!channel>.
    return {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}


def matrix_json(message: Message) -> dict[str, Any]:
    """An event `m.room.message`; a notice, as messages of programs are."""
    return {"msgtype": "m.notice", "body": f"{message.subject}\n\n{as_text(message)}"}


def ntfy_json(message: Message, topic: str) -> dict[str, Any]:
    """What ntfy publishes; a click leads to the evidence."""
    urgent = any(one.severity == "critical" for one in message.notices)
    alone = len(message.notices) == 1
    return {
        "topic": topic,
        "title": message.subject,
        "message": as_text(message, NTFY_TEXT),
        "priority": 4 if urgent else 3,
        "click": message.notices[0].url if alone else message.list_url,
    }


def as_json(shape: Mapping[str, Any]) -> bytes:
    """The body of a request."""
    return json.dumps(shape, ensure_ascii=False).encode()


def signature_headers(secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Headers of a signed web hook: HMAC-SHA256 over id, time and body.

    They are those of https://www.standardwebhooks.com, for which receivers find libraries.
    """
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = hmac.new(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(signed.digest()).decode()}",
    }


def _count(notices: Sequence[Notice]) -> str:
    return "1 change" if len(notices) == 1 else f"{len(notices)} changes"


def _one_line(text: str) -> str:
    """Host names come from outside: no line break gets into a header."""
    return "".join(one if one.isprintable() else " " for one in text)
