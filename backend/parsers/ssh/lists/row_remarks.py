"""Remarks beside a rate, in brackets or behind a # or //: they may tell configurations apart."""

import re
from math import log2

from parsers.ssh.dd_lines import AMOUNT
from parsers.ssh.headings import CHANGES, CONDITIONS, counts_tries, names_other_tool
from parsers.ssh.lists.list_tables import is_no_measurement
from parsers.ssh.lists.list_tokens import RATE_WORDS, UNIT_WORDS
from parsers.ssh.names import cipher_name, mac_name

_SIGNS = ("(", "[", "#", "//", "~~", "?", "*")
_REMARK = re.compile(r"\(([^()]{1,80})\)|\[([^\[\]]{1,80})\]|\s(?:#|//)\s(.{1,120})$")
_STRUCK = re.compile(r"(?<!~)~~(?=[^\s~])[^~]{1,200}~~(?!~)")
_PART = re.compile(r"[^\s,;:]+")
_WORD = re.compile(r"[^\W\d_]+")
_ASKED = re.compile(r"(?:/s\w{0,5}|\d)\s?\?|\?\s?\d")
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3})(?=[^\s*])[^*]{0,200}(?<=[^\s*])\1(?![\w*])"
    r"|^\s*(\*{2,9}) [^*]{1,200} \2\s*$"
)
_FOOTNOTE = re.compile(
    r"[\w)]\*+(?![\w*])|[\w)] \*+(?=\s*(?:$|[|,;:]))|(?<![\w*])\*+(?=[\w(])"
    r"|[\w)] ?\[\d{1,2}\](?=\s*(?:$|[|,;:]))"
)
_PLAIN = RATE_WORDS | UNIT_WORDS | {"of", "in", "at", "the", "cpu", "load", "usage", "took", "for"}
_CONFIGURATIONS = CONDITIONS | frozenset(
    re.findall(
        r"\w+",
        "a n mac etm accel core cores thread best client server localhost loopback remote"
        " up down upload download",
    )
)
"""Words of remarks that tell measurements apart, and take nothing back."""


def remark_of(text: str) -> str | None:
    """What the remarks of a line say; "" for nothing but units, MACs and the number of a try.

    None where the line's figure is struck out or asked about, or where a remark is not understood:
    it may say that the figure is a guess, the disk's, or of a transfer that was cut off.
    """
    amounts = [_magnitude(one) for one in AMOUNT.findall(text)] if "/s" in text else []
    if not any(sign in text for sign in _SIGNS):
        return " ".join(amounts)
    said = ["".join(parts) for parts in _REMARK.findall(text)]
    is_doubted = _STRUCK.search(text) or _ASKED.search(text) or has_footnote(text)
    if is_doubted or not all(map(_is_understood, said)):
        return None
    return " ".join([*amounts, *(one.lower() for one in said if _says_something(one))])


def tells_configuration(remark: str) -> bool:
    """Whether a remark, or a footnote, may say that a figure is of another version or setting."""
    return not CHANGES.isdisjoint(_WORD.findall(remark)) or has_footnote(remark)


def has_footnote(text: str) -> bool:
    """Whether a star without a partner on its line, or a number in brackets, refers to words
    elsewhere.
    """
    if "*" not in text and "]" not in text:
        return False
    return _FOOTNOTE.search(_EMPHASIS.sub(" ", text)) is not None


def _is_understood(remark: str) -> bool:
    """Whether a remark takes nothing back, whatever it tells apart."""
    if "n/a" in remark.lower() or is_no_measurement(remark) or names_other_tool(remark):
        return False
    words = _WORD.findall(remark.lower())
    return not _says_something(remark) or all(
        word in _PLAIN or word in _CONFIGURATIONS for word in words
    )


def _magnitude(amount: tuple[str, str]) -> str:
    """An amount to a factor of two: what several tries moved is seldom the same to the byte."""
    number, prefix = amount
    exponent = 10 * "kmgt".index(prefix.lower()) + log2(float(number.replace(",", ".")) or 1)
    return f"2^{round(exponent)} KB"


def _says_something(remark: str) -> bool:
    parts = [one for one in _PART.findall(remark) if not (cipher_name(one) or mac_name(one))]
    return not (_PLAIN.issuperset(_WORD.findall(" ".join(parts).lower())) or counts_tries(remark))
