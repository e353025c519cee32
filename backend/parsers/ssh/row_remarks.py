"""Remarks beside a rate, in brackets or behind a # or //: they may tell configurations apart."""

import re

from parsers.ssh.headings import counts_tries, names_other_tool
from parsers.ssh.list_tables import is_no_measurement
from parsers.ssh.list_tokens import RATE_WORDS, UNIT_WORDS
from parsers.ssh.names import cipher_name, mac_name

_SIGNS = ("(", "[", "#", "//", "~~")
_REMARK = re.compile(r"\(([^()]{1,80})\)|\[([^\[\]]{1,80})\]|\s(?:#|//)\s(.{1,120})$")
_STRUCK = re.compile(r"(?<!~)~~(?=[^\s~])[^~]{1,200}~~(?!~)")
_PART = re.compile(r"[^\s,;:]+")
_WORD = re.compile(r"[^\W\d_]+")
_KNOWN = RATE_WORDS | UNIT_WORDS | {"of", "in", "at", "the", "cpu", "load", "usage", "took", "for"}


def remark_of(text: str) -> str | None:
    """What the remarks of a line say; "" for nothing but units, MACs and the number of a try.

    None where the line's figure is struck out, or no measurement of ssh: a guess, the disk's.
    """
    if not any(sign in text for sign in _SIGNS):
        return ""
    said = ["".join(parts) for parts in _REMARK.findall(text)]
    if _STRUCK.search(text) or any(is_no_measurement(one) or names_other_tool(one) for one in said):
        return None
    return " ".join(one.lower() for one in said if _says_something(one))


def _says_something(remark: str) -> bool:
    parts = [one for one in _PART.findall(remark) if not (cipher_name(one) or mac_name(one))]
    return not (_KNOWN.issuperset(_WORD.findall(" ".join(parts).lower())) or counts_tries(remark))
