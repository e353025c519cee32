"""Format messages: a subject, and a paragraph of plain text for each entry."""

from collections.abc import Sequence
from dataclasses import dataclass

from changes.models import NotificationChannel

LONGEST_TEXT = 30_000
"""Maximum length of a message."""

LONGEST_REST = 30
"""Maximum length of the line that gives the number of omitted entries."""


@dataclass(frozen=True)
class Notice:
    """Describe an entry of a message; each of `facts` is a line, `url` is the page of the entry."""

    title: str
    facts: tuple[str, ...]
    url: str
    severity: NotificationChannel.Severity


@dataclass(frozen=True)
class Message:
    """Collect the entries for a channel; `list_url` is the page with the list of changes."""

    notices: Sequence[Notice]
    list_url: str
    daily: bool = False

    @property
    def severity(self) -> NotificationChannel.Severity:
        return max(notice.severity for notice in self.notices)

    @property
    def subject(self) -> str:
        """Return the subject as one line, so that host names cannot inject email headers."""
        if self.daily:
            return f"Ciphermark: {_count(self.notices)} in the last day"
        first = self.notices[0]
        more = f" and {len(self.notices) - 1} more" if len(self.notices) > 1 else ""
        line = f"Ciphermark: {first.title}{more}"
        return "".join(character if character.isprintable() else " " for character in line)


def as_text(message: Message, longest: int = LONGEST_TEXT) -> str:
    """Format the message as plain text of limited length, with a paragraph for each entry."""
    rest = f"All changes: {message.list_url}\n"
    parts: list[str] = []
    room = min(longest, LONGEST_TEXT) - len(rest) - LONGEST_REST
    for notice in message.notices:
        part = "\n".join((notice.title, *notice.facts, notice.url)) + "\n\n"
        room -= len(part)
        if room < 0:
            break
        parts.append(part)
    left = len(message.notices) - len(parts)
    if left:
        parts.append(f"and {left} more\n\n" if parts else f"{_count(message.notices)}\n\n")
    return "".join(parts) + rest


def _count(notices: Sequence[Notice]) -> str:
    return "1 change" if len(notices) == 1 else f"{len(notices)} changes"
