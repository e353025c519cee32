from collections.abc import Sequence
from dataclasses import dataclass

from changes.models import NotificationChannel

LONGEST_TEXT = 30_000  # characters of a message

LONGEST_REST = 30  # characters of the line `and 12 more`


@dataclass(frozen=True)
class Notice:
    title: str
    facts: tuple[str, ...]  # one line each
    url: str  # page of the change or run
    severity: NotificationChannel.Severity


@dataclass(frozen=True)
class Message:
    notices: Sequence[Notice]
    list_url: str  # page with all changes
    daily: bool = False

    @property
    def severity(self) -> NotificationChannel.Severity:
        return max(notice.severity for notice in self.notices)

    @property
    def subject(self) -> str:
        if self.daily:
            return f"Ciphermark: {_count(self.notices)} in the last day"
        first = self.notices[0]
        more = f" and {len(self.notices) - 1} more" if len(self.notices) > 1 else ""
        line = f"Ciphermark: {first.title}{more}"
        # A subject of one line, so that host names cannot inject email headers.
        return "".join(character if character.isprintable() else " " for character in line)


def as_text(message: Message, longest: int = LONGEST_TEXT) -> str:
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
