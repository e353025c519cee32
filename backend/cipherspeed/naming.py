"""Create keys of labels for URLs and filters."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

MAX_LABEL = 200
UNKNOWN_KEY = "unknown"
DIGEST_LENGTH = 12


@dataclass(frozen=True)
class Label:
    """Identify a value of a dimension by a key for URLs and a label for display."""

    key: str
    label: str


def slug(text: str) -> str:
    """Return a lower-case key of letters, digits and dots, with "-" for other characters.

    If letters or digits are lost, a digest is appended, so that different texts have different
    keys.
    """
    folded = unicodedata.normalize("NFKD", text.lower()).replace("+", " plus ")
    key = re.sub(r"[^a-z0-9.]+", "-", folded.encode("ascii", "ignore").decode()).strip("-.")
    complete = all(character.isascii() for character in folded if character.isalnum())
    if complete and 0 < len(key) <= MAX_LABEL:
        return key
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]
    return f"{key[: MAX_LABEL - DIGEST_LENGTH - 1]}-{digest}".strip("-")


def label(text: str | None, unknown: str) -> Label:
    """Return the label of a value, or `unknown` if it is missing."""
    plain = " ".join((text or "").split())
    return Label(slug(plain), plain[:MAX_LABEL]) if plain else Label(UNKNOWN_KEY, unknown)


def tags_by_key(tags: Iterable[str]) -> dict[str, list[str]]:
    """Group tags (KEY:VALUE) by key. All keys must match, each with any of its values."""
    names: dict[str, list[str]] = {}
    for tag in tags:
        key, _, value = tag.partition(":")
        names.setdefault(key, []).append(value)
    return names
