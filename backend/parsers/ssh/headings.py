"""What a heading says of the figures below it: settings, another try, another tool."""

import re
from dataclasses import dataclass

from documents.types import Acceleration
from parsers.ssh.commands import acceleration_said
from parsers.ssh.list_tokens import tokens_of

_COMPRESSED = re.compile(
    r"(?<!no )(?<!without )(?<!un)\bcompress(?:ion|ed)\b"
    r"(?!\s*[=:]?\s*(?:no|off|none|disabled)\b)|\s-C\b",
    re.I,
)
_SETTING = re.compile(r"compress|mask|ia32cap|aes-?ni|hmac-|umac-|\bdefaults?\b", re.I)
_MASKED = re.compile(
    r"(?<!un)(?<!not )(?<!no )\bmask(?:ed)?\b"
    r"|\baes-?ni (?:is |turned |switched )?(?:off|disabled|masked)\b",
    re.I,
)
_NUMBERED = re.compile(
    r"\b(?:run|try|pass|round|attempt|test|lauf|versuch|iteration)\s*#?\d"
    r"|\b(?:first|second|third) (?:run|try|pass)",
    re.I,
)
_OTHER_TOOL = re.compile(
    r"\b(?:netcat|nc|ncat|socat|rsh|rcp|rlogin|telnet|ftp|tftp|nfs|smb|cifs|samba|afp|webdav"
    r"|https?|wget|curl|iperf\d?|netperf|rsyncd|disks?|hdparm|bonnie\S*|fio|raw|openvpn|wireguard"
    r"|ipsec|dm-crypt|luks|cryptsetup|unencrypted|cleartext|plaintext|no encryption"
    r"|without (?:ssh|encryption))\b",
    re.I,
)
_LONGEST = 120
"""Characters of a line that may be a heading."""

_WORD = re.compile(r"[^\W_]+")
_DATE = re.compile(
    r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}\.\s?\d{1,2}\.\s?\d{4}\b|\b\d{1,2}/\d{1,2}/\d{4}\b"
)
_ORDINAL = re.compile(r"\d{1,4}(?:st|nd|rd|th)?|first|second|third|fourth|fifth|next|last|another")
_COUNTED = frozenset(
    [
        "run",
        "try",
        "tries",
        "pass",
        "round",
        "attempt",
        "test",
        "measurement",
        "iteration",
        "repetition",
        "day",
        "night",
        "week",
        "versuch",
        "lauf",
        "messung",
        "tag",
    ]
)
_TIMES = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "morning",
        "noon",
        "afternoon",
        "evening",
        "midnight",
        "yesterday",
        "today",
        "tomorrow",
        "weekend",
        "again",
        "repeat",
        "repeated",
        "once",
    ]
)
_DIRECTIONS = frozenset(
    [
        "upload",
        "download",
        "uploading",
        "downloading",
        "uplink",
        "downlink",
        "up",
        "down",
        "send",
        "sending",
        "receive",
        "receiving",
        "push",
        "pull",
        "put",
        "get",
    ]
)
_FILLERS = frozenset(
    [
        "the",
        "in",
        "on",
        "at",
        "of",
        "and",
        "a",
        "more",
        "no",
        "nr",
        "number",
        "later",
        "same",
        "speed",
        "rate",
    ]
)


@dataclass(frozen=True)
class Headed:
    """What a heading says of all figures below it."""

    masks: Acceleration | None = None
    compression: bool = False
    mac: str | None = None


NOTHING = Headed()


def said_in(title: str) -> Headed:
    """The settings that a heading names."""
    macs = {token.mac for token in tokens_of(title) if token.mac}
    masks = acceleration_said(title) or ("masked" if _MASKED.search(title) else None)
    return Headed(
        masks, bool(_COMPRESSED.search(title)), next(iter(macs)) if len(macs) == 1 else None
    )


def names_setting(title: str) -> bool:
    """Whether a heading is about a MAC, compression or a mask, or about none of them."""
    return _SETTING.search(title) is not None


def counts_tries(title: str) -> bool:
    """Whether the heading only says which try or day it is: "Run 2:", "Monday morning"."""
    if len(title) > _LONGEST:
        return False
    dated = _DATE.search(title) is not None
    words = _WORD.findall((_DATE.sub(" ", title) if dated else title).lower())
    ordinals = [word for word in words if _ORDINAL.fullmatch(word)]
    counted, times = _COUNTED.intersection(words), _TIMES.intersection(words)
    known = _COUNTED | _TIMES | _FILLERS
    if not all(word in known or word in ordinals for word in words):
        return False
    return dated or bool(times) or bool(counted and ordinals)


def is_direction(title: str) -> bool:
    """Whether the words only say which way the bytes went: "Upload", "Download speed:"."""
    words = _WORD.findall(title[:_LONGEST].lower())
    return any(word in _DIRECTIONS for word in words) and all(
        word in _DIRECTIONS or word in _FILLERS for word in words
    )


def is_same_machine(title: str) -> bool:
    """Whether figures that repeat below the heading are tries, not another configuration's."""
    return bool(_NUMBERED.search(title)) or counts_tries(title)


def names_other_tool(line: str) -> bool:
    """Whether a line speaks of another way to move bytes than ssh."""
    return len(line) <= _LONGEST and _OTHER_TOOL.search(line) is not None
