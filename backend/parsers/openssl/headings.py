"""What a heading above a table of `openssl speed` says of how it was measured."""

import re
from typing import Literal

from parsers.openssl import build_facts
from parsers.openssl.cipher_names import canonical_cipher
from parsers.ssh.headings import may_be_talk, settings_named

Told = Literal["", "encrypt", "decrypt", "unclear"]
"""The direction; "" says nothing, "unclear" may say anything."""

_WORD = re.compile(r"[\w.-]*\w")
_DIRECTION = re.compile(r"\b(?P<word>(?:en|de)crypt)(?:ion|ing)?\b")
_ONE = re.compile(r"\W*(?:1|one|a|single)[\s-]*(?:thread(?:ed)?|core|process|cpu|job)\W*", re.I)
_OTHERWISE = re.compile(
    r"decrypt|(?<!\S)-{1,2}(?:multi|async_jobs)\b|\bmulti[\s-]?(?:thread|core|process)"
    r"|\b(?:\d+|all|both|two|four|eight|many|several|parallel)[\s-]+(?:\w+[\s-]+)?"
    r"(?:threads?|process(?:es)?|cores?|cpus?|jobs?|workers?)\b"
)
"""Words of another direction or of several processes, in lower case."""
_HARDWARE = re.compile(
    r"\b(?:\d+|single|dual|two|quad|four|six|octa|eight|multi)[\s-]core"
    r"(?: [\w.()-]+){0,2} (?:cpu|processor|soc)\b"
)
"""What a CPU has and calls itself, in lower case: nothing of how many processes ran."""
_SIGNS = ("crypt", "multi", "async", "thread", "process", "core", "cpu", "job", "worker")
"""Without any of these there is no such word; most lines have none."""


def told_in(text: str, before: Told, *, masked: bool) -> Told:
    """What holds below a heading; `before` and `masked` did above it.

    A heading that does not speak of what held may end it, or not.
    """
    lowered = text.lower()
    speaks = any(sign in lowered for sign in _SIGNS)
    direction = _DIRECTION.search(lowered) if speaks else None
    if direction and _says_only(direction[0], lowered):
        return "decrypt" if direction["word"] == "decrypt" else "encrypt"
    if speaks and _ONE.fullmatch(text):
        return ""
    otherwise = speaks and _OTHERWISE.search(_HARDWARE.sub(" ", lowered))
    if otherwise or before in ("decrypt", "unclear"):
        return "unclear"
    says_masked = build_facts.says_masked(text)
    if says_masked and may_be_talk(text):
        return "unclear"
    if says_masked or not masked or "mask" in settings_named(text):
        return before
    return "unclear"


def _says_only(word: str, text: str) -> bool:
    """Whether a heading has this word, and besides it nothing but ciphers."""
    words = [one for one in _WORD.findall(text) if canonical_cipher(one) is None]
    return words == [word]
