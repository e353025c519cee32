"""Capability masks of OpenSSL on a command line or in a heading: whether hardware AES is off."""

import re

from documents.types import Acceleration

_MASK = re.compile(r"OPENSSL_(?P<cpu>ia32|arm)cap\s?[= ]\s?[\"'“”]?(?P<value>[^\s\"'“”;]{0,200})")
_MASK_NUMBER = re.compile(r"(~?)(0x[0-9a-f]{1,16}|0)(?![0-9a-z])", re.I)
_UNMASK = re.compile(r"\bunset\s+OPENSSL_(?:ia32|arm)cap")
_SETS_MASK = re.compile(
    r"\s*(?:(?:export|setenv|set -x|unset)\s+)?OPENSSL_(?:ia32|arm)cap(?:[= ]\S*)?\s*"
)
AES_BIT = 57
"""Of OPENSSL_ia32cap: the AES instructions."""


def acceleration_said(text: str) -> Acceleration | None:
    """Whether a mask on the line turns hardware AES off; None where it has no mask."""
    if "cap" not in text:
        return None
    if _UNMASK.search(text):
        return "default"
    found = _MASK.search(text)
    if found is None:
        return None
    number = _MASK_NUMBER.match(found["value"])
    if number is None:
        is_default = not found["value"] or found["value"][0] == ":"
        return "masked" if "$" in found["value"] else "default" if is_default else None
    mask = int(number[2], 16)
    if found["cpu"] == "arm":
        return None if mask else "masked"
    return "masked" if bool(mask >> AES_BIT & 1) == (number[1] == "~") else "default"


def sets_mask(body: str) -> bool:
    """Whether a command sets the mask for those that follow, or removes it, and no more."""
    return _SETS_MASK.fullmatch(body) is not None
