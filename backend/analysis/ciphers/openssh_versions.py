"""Versions of OpenSSH, and ranges of them that may be known only in part."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Version = tuple[int, ...]
"""9.2p1 -> (9, 2): the number of the portable release says nothing about ciphers."""

Bound = Version | Literal["unknown"] | None

_OPENSSH = re.compile(r"OpenSSH[ _](?:for_Windows_)?(?P<version>\d{1,4}(?:\.\d{1,4}){1,3})")
_BARE = re.compile(r"(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)(?:p\d{1,2})?")


def openssh_version(text: str | None) -> Version | None:
    """ "OpenSSH_9.2p1 Debian-2+deb12u6", "9.2p1" -> (9, 2); None for another program or no text."""
    found = _OPENSSH.search(text or "") or _BARE.fullmatch(text or "")
    return parse_version(found["version"]) if found else None


def parse_version(text: str) -> Version:
    """ "7.6" -> (7, 6); `ValueError` for what is no version."""
    return tuple(int(number) for number in text.split("."))


@dataclass(frozen=True)
class VersionRange:
    """From the release `since` on, up to but without the release `until`.

    A bound of None is open (it was always so, it still is); "unknown" is a bound of which no
    source that we trust tells; `gone_by` is then a release that is known to lie behind it.
    """

    since: Bound
    until: Bound
    gone_by: Version | None = None

    def contains(self, version: Version | None) -> bool | None:
        """Whether that release belongs to the range; None where that cannot be told."""
        if version is None:
            return None
        if isinstance(self.since, tuple) and version < self.since:
            return False
        end = self.until if isinstance(self.until, tuple) else self.gone_by
        if end and version >= end:
            return False
        return None if "unknown" in (self.since, self.until) else True


def parse_range(raw: Mapping[str, str | None]) -> VersionRange:
    """A range as the catalogue spells it: {"since": "6.2", "until": null}."""
    gone_by = raw.get("gone_by")
    return VersionRange(
        since=_bound(raw["since"]),
        until=_bound(raw["until"]),
        gone_by=parse_version(gone_by) if gone_by else None,
    )


def _bound(text: str | None) -> Bound:
    if text is None:
        return None
    return "unknown" if text == "unknown" else parse_version(text)
