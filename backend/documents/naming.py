"""Keys for labels: what stands in URLs and filters."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass

MAX_LABEL = 200
UNKNOWN_KEY = "unknown"


@dataclass(frozen=True)
class Label:
    """A value of a dimension: `key` for URLs, `label` for people."""

    key: str
    label: str


def slug(text: str) -> str:
    """Lower-case key of `text`: letters, digits and dots, other runs of characters as "-".

    Text with no such character gets a key of its own from its digest.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    key = re.sub(r"[^a-z0-9.]+", "-", plain.lower()).strip("-.")
    if not key:
        return "x-" + hashlib.sha256(text.encode()).hexdigest()[:12]
    return key[:MAX_LABEL]


def label(text: str | None, unknown: str) -> Label:
    """The label of a fact; a fact that is not known is shown as unknown."""
    plain = " ".join((text or "").split())[:MAX_LABEL]
    return Label(slug(plain), plain) if plain else Label(UNKNOWN_KEY, unknown)
