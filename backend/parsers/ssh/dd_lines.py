"""What `dd` says at its end: bytes and seconds, in the words of any version and language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from parsers.ssh.units import Megabyte, number_of, unit_of

_SECOND_WORD = r"(?:seconds?|secs?|sekund\w{0,4}|segundos?|secondes?|secondi|сек\w{0,5}|s|с|秒)"
_BYTE_WORD = r"(?:bytes?|octets?|oktett?\w{0,4}|bajt\w{0,4}|байт\w{0,3}|バイト|字节|位元組|바이트)"

_SUMMARY = re.compile(
    # Each part ends where the next one must begin: little is tried a second time. (Python 3.11.2
    # matches possessive quantifiers wrongly, so there are none.)
    r"(?<![\d.,/+-])(?P<bytes>\d{1,18})[ ]?"
    r"(?:(?P<word>" + _BYTE_WORD + r")(?![^\W\d_])|(?P<other>[^\W\d_]{1,20}(?![^\W\d_])))[ ]?"
    r"(?P<sizes>[(（][^()（）]{1,60}[)）])?"
    r"(?P<verb>[^\d()（）|:;/]{0,40})(?=\d)"
    r"(?P<seconds>\d{1,9}(?:[.,]\d{1,12})?(?:e[+-]?\d{1,3})?)[ ]?" + _SECOND_WORD + r"(?![^\W\d_])"
    r"(?:\.?[,，、]?[ ]{0,2}\(?(?P<rate>\d{1,18}(?:[.,]\d{1,9})?(?:e[+-]?\d{1,2})?)[ ]?"
    r"(?P<unit>[a-zA-Z]{1,7}/(?:secs?|s|с|秒))\)?)?",
    re.I,
)
_SECONDS_SAID = re.compile(r"\d ?[sSсС秒]")
_SIZE_SAID = r"\d+(?:[.,]\d+)? ?(?:[kMGT]i?)?[Bo]"
_SIZES = re.compile(rf"[(（]\s?{_SIZE_SAID}(?:[,，] ?{_SIZE_SAID})?\s?[)）]", re.I)
_VERB = re.compile(
    r"transfer|copied|kopi|copi|skopiow|zkop|скопир|コピー|复制|複製|복사|kopyal", re.I
)
_CUT = re.compile(r"\d{3,18} (?:bytes?|octets?) \([^()]{3,60}\) (?:copied|transferred)", re.I)
_RECORDS_BARE = re.compile(
    r"\s*(?:[^\x00-\x7f]{1,8} ?)?(\d{1,18}\+\d{1,9}) ?[^\d\s|()][^\d|()]{1,40}\s*"
)
_RECORDS_ENGLISH = re.compile(r"(?<![\d+])(\d{1,18}\+\d{1,9}) records (?:in|out)", re.I)
_AMOUNT_ALONE = 24
_DIVISION = re.compile(r"(?<![\w.])(\d{1,12})\s?/\s?\$")
_MEGABYTES: Mapping[float, Megabyte] = {1024.0**2: "MiB", 1000.0**2: "MB"}
MOST_BYTES = 1 << 60
"""No command of a benchmark sends more."""
RATE_TOLERANCE = 0.06
"""Share by which a rate of two digits ("1.0 GB/s") may differ from bytes / seconds."""


@dataclass(frozen=True)
class DdSummary:
    """Bytes and seconds of one transfer. `damage` says, as a sentence, why it cannot be used."""

    bytes: int
    seconds: float
    whole: bool = False
    """Whether its seconds have no decimals, as in GNU's progress reports."""
    damage: str | None = None


def summaries(text: str) -> list[tuple[int, int, DdSummary]]:
    """Every summary in a line, with where it begins and ends."""
    if not _SECONDS_SAID.search(text):
        return []
    return [
        (found.start(), found.end(), _summary(found))
        for found in _SUMMARY.finditer(text)
        if _is_summary(found)
    ]


def is_verb(text: str) -> bool:
    """Whether the text is a word for copying, which some languages put before the summary."""
    return re.fullmatch(r"\s*\S{1,30}\s*", text) is not None and _VERB.search(text) is not None


def is_cut(text: str) -> bool:
    """Whether a summary begins in the text whose seconds are not there."""
    return "(" in text and _CUT.search(text) is not None


def _is_summary(found: re.Match[str]) -> bool:
    """Of an unknown language: known by sizes and rate; in known words: by sizes or the verb."""
    sized = found["sizes"] is not None and _SIZES.fullmatch(found["sizes"]) is not None
    if found["word"] is None:
        return sized and found["rate"] is not None
    before = found.string[max(0, found.start() - 6) : found.start()]
    return sized or _VERB.search(found["verb"] + before) is not None


def _summary(found: re.Match[str]) -> DdSummary:
    moved = int(found["bytes"])
    # dd prints no thousands separators: whatever stands before the decimals marks them.
    seconds = float(found["seconds"].replace(",", "."))
    if found["verb"][-1:] in ("-", "−"):
        seconds = -seconds
    return DdSummary(moved, seconds, found["seconds"].isdecimal(), _damage(found, moved, seconds))


def _damage(found: re.Match[str], moved: int, seconds: float) -> str | None:
    """A summary cut or retyped shows in its own rate, where it has one."""
    if found["rate"] is None or seconds <= 0:
        return None
    unit = unit_of(found["unit"])
    rate = number_of(found["rate"].replace(",", "."), None)
    if unit is None or rate is None:
        return None
    expected = moved / seconds
    for factor in (unit.decimal, unit.binary):
        if abs(rate * factor - expected) <= RATE_TOLERANCE * max(expected, factor):
            return None
    return f"{moved} bytes in {seconds:g} s are not the {found['rate']} {found['unit']} it states"


def records(text: str) -> list[tuple[int, int, str]]:
    """Where a line counts the records read or written (English: anywhere), and the counts."""
    if "+" not in text:
        return []
    bare = _RECORDS_BARE.fullmatch(text)
    if bare:
        return [(0, len(text), bare[1])]
    return [(one.start(), one.end(), one[1]) for one in _RECORDS_ENGLISH.finditer(text)]


AMOUNT = re.compile(r"(?<![\w.,])(\d{1,9}(?:[.,]\d{1,6})?)\s?([kmgt])i?B(?!\w|\s?/)", re.I)
_SIZE_SUFFIXES = {
    "c": 1, "w": 2, "b": 512, "": 1,
    "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4,
    "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4,
    "kib": 1024, "mib": 1024**2, "gib": 1024**3, "tib": 1024**4,
}  # fmt: skip
_OPERAND = re.compile(r"(?<![\w$=])(bs|obs|ibs|count|iflag)=[\"']?([^\s|;]{1,40})", re.I)
_SIZE = re.compile(r"(\d{1,15})([a-zA-Z]{0,3})")
_COMMENT = re.compile(r"\s#\s.*$")
_HEAD = re.compile(r"\bhead\s+(?:-c\s?|--bytes[= ])[\"']?(\d{1,15}[a-zA-Z]{0,3})\b")


def size_of(text: str) -> int | None:
    """Bytes of a size as dd and head take it: 1M is 2^20, 1MB is 10^6; B alone is bytes to some."""
    found = _SIZE.fullmatch(text)
    factor = _SIZE_SUFFIXES.get(found[2].lower()) if found and found[2] != "B" else None
    return int(found[1]) * factor if found and factor else None


def amount_said(text: str) -> int | None:
    """Bytes of the first amount in some words, as near as "10 MB" says."""
    found = AMOUNT.search(text)
    if found is None:
        return None
    return int(float(found[1].replace(",", ".")) * 1000 ** (1 + "kmgt".index(found[2].lower())))


def amount_alone(text: str) -> int | None:
    """The amount that a line states and nothing else: "# 10 MB"."""
    found = AMOUNT.search(text) if len(text) <= _AMOUNT_ALONE else None
    rest = text[: found.start()] + text[found.end() :] if found else "x"
    return None if any(map(str.isalnum, rest)) else amount_said(text)


def amount_of(command: str) -> int | None:
    """Bytes that a command sends: of `dd bs= count=` or `head -c`, None where it does not say."""
    command = _COMMENT.sub("", command)
    head = _HEAD.search(command)
    if head:
        amount = size_of(head[1])
        return amount if amount and amount <= MOST_BYTES else None
    if not re.search(r"\bdd\b", command):
        return None
    operands = {name.lower(): value for name, value in reversed(_OPERAND.findall(command))}
    count = size_of(operands.get("count", ""))
    if operands.get("count", "").endswith("B"):
        return None  # bytes since coreutils 9.1, blocks before
    in_bytes = "count_bytes" in operands.get("iflag", "")
    block = 1 if in_bytes else size_of(operands.get("bs") or operands.get("ibs") or "512")
    amount = (count or 0) * (block or 0)
    return amount if 0 < amount <= MOST_BYTES else None


def megabyte_meant(command: str) -> Megabyte | None:
    """From `dd bs=1M count=100 ... awk '{print 100/$2}'`: the division's unit, if it is clear."""
    amount, division = amount_of(command), _DIVISION.search(command)
    if amount is None or division is None or int(division[1]) == 0:
        return None
    ratio = amount / int(division[1])
    return _MEGABYTES.get(ratio)
