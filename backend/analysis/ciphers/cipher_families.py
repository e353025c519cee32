"""The family that a series' cipher belongs to, for what is said of many series at once."""

from functools import lru_cache

from analysis.ciphers.cipher_catalogue import cipher_catalogue
from documents.types import Series, Tool

_MODE_SAYS_NOTHING = frozenset({"stream", "ecb"})


@lru_cache(2000)
def cipher_family(tool: Tool, name: str) -> str:
    """Family and mode ("aes-gcm", "chacha20-poly1305", "arcfour"); an unknown cipher is its own."""
    cipher = cipher_catalogue().find(tool, name)
    if cipher is None:
        return name
    if cipher.mode in _MODE_SAYS_NOTHING:
        return cipher.family
    return f"{cipher.family}-{cipher.mode}"


def family_of_series(series: Series) -> str | None:
    """Tool and family whose speed on its host this series tells of, such as "ssh aes-gcm".

    None for series that say something else: with the AES instructions turned off, or over a
    network to another machine.
    """
    if series.acceleration != "default" or series.target_kind == "remote":
        return None
    return f"{series.tool} {cipher_family(series.tool, series.cipher)}"
