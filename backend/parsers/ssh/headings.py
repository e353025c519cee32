"""The words of a heading: settings, another try, another tool, no measurement at all."""

import re
from dataclasses import dataclass
from functools import lru_cache

from documents.types import Acceleration
from parsers.ssh.commands.masks import acceleration_said
from parsers.ssh.lists.list_tokens import tokens_of

_COMPRESSED = re.compile(
    r"(?<!no )(?<!without )(?<!un)\bcompress(?:ion|ed)\b"
    r"(?!\s*[=:]?\s*(?:no|off|none|disabled)\b)|\s-C\b",
    re.I,
)
_PACKED = re.compile(r"(?:kompr|compresi|compactad|сжат|жатие|圧縮|压缩|zlib|gzip|lz4)", re.I)
_UNPACKED = re.compile(
    r"\b(?:ohne|sans|sin|senza|sem|zonder|utan|bez|без|no|without|off)\b|無|无", re.I
)
_SETTING = re.compile(r"compress|mask|ia32cap|aes-?ni|hmac-|umac-|\bdefaults?\b")
"""In lower case."""
_MASKED = re.compile(
    r"(?<!un)(?<!not )(?<!no )\bmask(?:ed)?\b"
    r"|\baes-?ni (?:is |turned |switched )?(?:off|disabled|masked)\b",
    re.I,
)
_OTHER_TOOL = re.compile(
    r"\b(?:netcat|nc|ncat|socat|rsh|rcp|rlogin|telnet|ftp|tftp|nfs|smb|cifs|samba|afp|webdav"
    r"|https?|wget|curl|iperf\d?|netperf|rsyncd|disks?|hdparm|bonnie\S*|fio|raw|openvpn|wireguard"
    r"|ipsec|strongswan|dm-crypt|luks|cryptsetup|veracrypt|gnutls\S*|stunnel|nginx|ftps|lftp|vsftpd"
    r"|tls|vpn|smb\d|no network|memory only|unencrypted|cleartext|plaintext|no encryption"
    r"|without (?:ssh|encryption))\b"
)
"""In lower case: searched for so, it takes a fraction of the time."""
CHANGES = frozenset(
    re.findall(
        r"\w+",
        "no off without software sw sse avx neon simd old new was previously before after openssh"
        " openssl libressl dropbear hpn",
    )
)
"""Words of conditions that are not a machine's usual one: a run document has no place for them."""
CONDITIONS = CHANGES | frozenset(
    re.findall(
        r"\w+",
        "aes ni aesni hw hardware accelerated acceleration single cold warm cache default with on"
        " lan wlan wifi ethernet enabled disabled",
    )
)
"""Words that tell measurements of one machine apart."""
_LONGEST = 120
"""Characters of a line that may be a heading."""

_WORDS_OF_LABEL = 6
_SENTENCE = re.compile(
    r"[.?!] +\w|\b(?:edit|update|ps|i|we|it|this|those|these|here|again)\b(?!\s*[-_])", re.I
)
_EXPECTED = re.compile(
    r"\b(?:expect(?:ed|ation\w*)?|estimate[ds]?|guess(?:ed|es)?|wanted|projected|calculated|soll"
    r"|(?:th[eé]or|teor|(?:extra|inter)pol|simul|erwart|berechn|gesch[aä]tz|promis)\w*|vendor"
    r"|data ?sheet|datenblatt|claim(?:s|ed)?|advertised|targets?|not measured|nicht gemessen"
    r"|we need)\b",
    re.I,
)
_OUTPUT = re.compile(
    r"\s*(?:\d\d:\d\d:\d\d up .*|total +used +free.*|(?:Mem|Swap): +\d.*"
    r"|Killed by signal \d+\.)\s*"
)
"""What uptime and free print, and an interrupted transfer."""
_WORD = re.compile(r"[^\W_]+")
_DATE = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
    r"|\b\d{1,2}\.\s?\d{1,2}\.\s?\d{4}\b|\b\d{1,2}/\d{1,2}/\d{4}\b"
    r"|\b\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\b"
    r"|\b(?:mon|tue|wed|thu|fri|sat|sun),? {1,2}(?:\d{1,2} )?"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) {1,2}(?:\d{1,2} )?"
    r"(?:\d\d:\d\d:\d\d )?(?:(?:utc|gmt|ces?t|[ecmp][sd]t) )?\d{4}\b",
    re.I,
)
_ORDINAL = re.compile(r"\d{1,4}(?:st|nd|rd|th)?|first|second|third|fourth|fifth|next|last|another")
_COUNTED = frozenset([
    "run", "try", "tries", "pass", "round", "attempt", "test", "measurement", "iteration",
    "repetition", "day", "night", "week", "versuch", "lauf", "messung", "tag",
])  # fmt: skip
_TIMES = frozenset([
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "morning", "noon",
    "afternoon", "evening", "midnight", "yesterday", "today", "tomorrow", "weekend", "again",
    "repeat", "repeated", "once",
])  # fmt: skip
_DIRECTIONS = frozenset([
    "upload", "download", "uploading", "downloading", "uplink", "downlink", "up", "down", "send",
    "sending", "receive", "receiving", "push", "pull", "put", "get",
])  # fmt: skip
_FILLERS = frozenset([
    "the", "in", "on", "at", "of", "and", "a", "more", "no", "nr", "number", "later", "same",
    "speed", "rate",
])  # fmt: skip

_TRIES = _COUNTED | _TIMES | _FILLERS
_KNOWN = _TRIES | {
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun",
    "jul", "aug", "sep", "oct", "nov", "dec", "utc", "gmt", "cet", "cest", "est", "edt", "cst",
    "cdt", "mst", "mdt", "pst", "pdt", "am", "pm", "first", "second", "third", "fourth", "fifth",
    "next", "last", "another",
}  # fmt: skip


_FILE = re.compile(r"\s*==> .+ <==\s*")
_BARE_WORD = re.compile(r"\s*\w[\w.-]{0,80}\w\s*")


@dataclass
class Title:
    """A heading that is not about one cipher: it may begin another machine's figures."""

    line: int
    text: str

    @property
    def is_bare(self) -> bool:
        """Whether it is a word alone, which may be anything."""
        return _BARE_WORD.fullmatch(self.text) is not None

    @property
    def label(self) -> str:
        """Its words, without what makes them a heading."""
        return self.text.strip(" #=-*_:~")


@dataclass(frozen=True)
class Headed:
    """What a heading says of all figures below it."""

    masks: Acceleration | None = None
    compression: bool = False
    mac: str | None = None

    @property
    def settings(self) -> frozenset[str]:
        """Which ones it says."""
        said = {"mask": self.masks, "compression": self.compression, "mac": self.mac}
        return frozenset(name for name, value in said.items() if value)


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
    return _SETTING.search(title.lower()) is not None


def settings_named(title: str) -> frozenset[str]:
    """Which settings a heading speaks of, whatever it says of them."""
    named = {
        "compression": re.search(r"compress", title, re.I),
        "mask": re.search(r"mask|ia32cap|aes-?ni", title, re.I),
        "mac": re.search(r"hmac-|umac-", title, re.I),
    }
    is_default = re.search(r"\bdefaults?\b", title, re.I) is not None
    return frozenset(name for name, found in named.items() if found or is_default)


_LABEL_WORDS = (CONDITIONS | _KNOWN).union(
    re.findall(
        r"\w+",
        "compression compressed mask masked unmasked zlib c turned switched is results cipher"
        " ciphers ssh mac umac hmac etm sha1 sha2 md5 openssh openssl com software bios evp via"
        " env variable",
    )
)
_NO_LABEL = re.compile(r"\?|\b(?:not|never|until|would|was|were)\b|n['’]t\b", re.I)
_STRANGE_WORDS = 2
"""Words of a label, such as names, that are none of `_LABEL_WORDS`."""


def may_be_talk(title: str) -> bool:
    """Whether a heading that names a setting may only speak of it: "Does compression help?"."""
    words = {word for word in _WORD.findall(title.lower()) if word.isalpha()}
    is_long = len(words - _LABEL_WORDS) > _STRANGE_WORDS
    return is_long or bool(_SENTENCE.search(title) or _NO_LABEL.search(title))


@lru_cache(maxsize=16)  # several rules ask the same of each line
def counts_tries(title: str) -> bool:
    """Whether the heading only says which try or day it is: "Run 2:", "Monday morning"."""
    if len(title) > _LONGEST:
        return False
    words = _WORD.findall(title.lower())
    if any(word.isalpha() and word not in _KNOWN for word in words):
        return False
    dated = _DATE.search(title) is not None
    if dated:
        words = _WORD.findall(_DATE.sub(" ", title).lower())
    ordinals = [word for word in words if _ORDINAL.fullmatch(word)]
    counted, times = _COUNTED.intersection(words), _TIMES.intersection(words)
    if not all(word in _TRIES or word in ordinals for word in words):
        return False
    return dated or bool(times) or bool(counted and ordinals)


def changes_nothing(text: str) -> bool:
    """Whether a line that is no result leaves what is measured below it as it was above."""
    return counts_tries(text) or _OUTPUT.fullmatch(text) is not None


_PARTS_OF_TITLE = re.compile(r"[\w.-]+|[^\w\s]+")
_GROUP = re.compile(
    r"(?:aes|chacha|3?des|arcfour|rc4|cbc|ctr|gcm|aead|etm|macs?|ciphers?|modes?|streams?|blocks?"
    r"|bits?|other|others|old|new|legacy|modern|fast|slow|weak|strong|best|worst|rest|more)\b"
    r"|\d+$|.*(?:sort|result|bit)",
    re.I,
)
"""Words of headings that part the ciphers of one machine."""


def parts_ciphers(title: str) -> bool:
    """Whether a heading only says which ciphers of the machine follow."""
    label = title[:_LONGEST].strip(" #=-*:")
    words = (word[0] for word in _PARTS_OF_TITLE.finditer(label))
    return all(map(_GROUP.match, words)) and _PARTS_OF_TITLE.search(label) is not None


_ABOUT_A_CIPHER = _LABEL_WORDS | frozenset({"test", "testing", "bench", "benchmark", "using"})


def names_cipher_alone(title: str) -> bool:
    """Whether a heading says no more than which cipher follows: "Test with aes128-ctr"."""
    tokens = tokens_of(title)
    words = (word for one in tokens if not one.cipher for word in _WORD.findall(one.text.lower()))
    return any(one.cipher for one in tokens) and all(word in _ABOUT_A_CIPHER for word in words)


def same_form(title: str, other: str) -> bool:
    """Whether two headings differ in one word, which is no group of ciphers: "web01:", "web02:"."""
    if not title or title == other or max(len(title), len(other)) > _LONGEST:
        return False
    words, others = _PARTS_OF_TITLE.findall(title), _PARTS_OF_TITLE.findall(other)
    if len(words) != len(others):
        return False
    pairs = zip(words, others, strict=True)
    changed = [pair for pair in pairs if pair[0] != pair[1] and not pair[0].isdecimal()]
    return len(changed) == 1 and not any(_GROUP.match(word) for word in changed[0])


def is_direction(title: str) -> bool:
    """Whether the words only say which way the bytes went: "Upload", "Download speed:"."""
    words = set(_WORD.findall(title[:_LONGEST].lower()))
    return bool(words & _DIRECTIONS) and words <= _DIRECTIONS | _FILLERS


def names_other_tool(line: str) -> bool:
    """Whether a line speaks of another way to move bytes than ssh."""
    return len(line) <= _LONGEST and _OTHER_TOOL.search(line.lower()) is not None


def tells_condition(title: str) -> bool:
    """Whether a heading or a title only says in which condition a machine was: "before", "LAN"."""
    words = {word for word in _WORD.findall(title[:_LONGEST].lower()) if not word.isdecimal()}
    return bool(words & CONDITIONS - {"aes"}) and words <= CONDITIONS | _FILLERS


def is_sentence(title: str) -> bool:
    """Whether a heading that names no machine is too much of a sentence to be a label."""
    return len(title.split()) > _WORDS_OF_LABEL or _SENTENCE.search(title) is not None


def is_of_other_matter(title: str) -> bool:
    """Whether no figure below a heading was measured through ssh as it usually is.

    It says that they were not measured, are of another tool, or, in words of which only a part is
    understood, of compressed transfers.
    """
    if says_expected(title) or names_other_tool(title):
        return True
    is_packed = _PACKED.search(title) is not None and not _UNPACKED.search(title)
    return is_packed and not said_in(title).compression


def says_expected(title: str) -> bool:
    """Whether a heading says that the figures below it were not measured."""
    return len(title) <= _LONGEST and _EXPECTED.search(title) is not None


def is_file_name(text: str) -> bool:
    """Whether a line is what head and tail print before a file: measured anywhere."""
    return _FILE.fullmatch(text) is not None
