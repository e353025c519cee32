"""What a heading above a table of `openssl speed` says of how it was measured."""

import re
from typing import Literal

from parsers.openssl import environment
from parsers.openssl.cipher_names import canonical_cipher
from parsers.ssh.headings import settings_named

Told = Literal["", "encrypt", "decrypt", "unclear"]
"""The direction; "" says nothing, "unclear" may say anything."""

_WORD = re.compile(r"[\w.-]*\w")
_DIRECTION = re.compile(r"(?P<word>(?:en|de)crypt)(?:ion|ing)?")
_ONE = re.compile(r"\W*(?:1|one|a|single)[\s-]*(?:thread(?:ed)?|core|process|cpu|job)\W*", re.I)
_OTHERWISE = re.compile(
    r"decrypt|(?<!\S)-{1,2}(?:multi|async_jobs)\b|\bmulti[\s-]?(?:thread|core|process)"
    r"|\b(?:\d+|all|both|two|four|eight|many|several|parallel)[\s-]+(?:\w+[\s-]+)?"
    r"(?:threads?|process(?:es)?|cores?|cpus?|jobs?|workers?)\b",
    re.I,
)
"""Words of another direction or of several processes."""


def told_in(text: str, before: Told, *, masked: bool) -> Told:
    """What holds below a heading; `before` and `masked` did above it.

    A heading that does not speak of what held may end it, or not.
    """
    words = [one for one in _WORD.findall(text.lower()) if canonical_cipher(one) is None]
    direction = _DIRECTION.fullmatch(words[0]) if len(words) == 1 else None
    if direction:
        return "decrypt" if direction["word"] == "decrypt" else "encrypt"
    if _ONE.fullmatch(text):
        return ""
    if _OTHERWISE.search(text) or before in ("decrypt", "unclear"):
        return "unclear"
    ends = "mask" in settings_named(text) or environment.says_masked(text)
    return "unclear" if masked and not ends else before
