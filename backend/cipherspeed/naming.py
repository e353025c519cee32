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
    key: str
    label: str


def slug(text: str) -> str:
    """Return a key for URLs, such as "intel-core-i7-3770" for "Intel Core i7-3770"."""
    folded = unicodedata.normalize("NFKD", text.lower()).replace("+", " plus ")
    key = re.sub(r"[^a-z0-9.]+", "-", folded.encode("ascii", "ignore").decode()).strip("-.")
    complete = all(character.isascii() for character in folded if character.isalnum())
    if complete and 0 < len(key) <= MAX_LABEL:
        return key
    # The key lacks some letters or digits. The digest distinguishes similar texts.
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]
    return f"{key[: MAX_LABEL - DIGEST_LENGTH - 1]}-{digest}".strip("-")


def label(text: str | None, unknown: str) -> Label:
    plain = " ".join((text or "").split())
    return Label(slug(plain), plain[:MAX_LABEL]) if plain else Label(UNKNOWN_KEY, unknown)


def tags_by_key(tags: Iterable[str]) -> dict[str, list[str]]:
    """Group tags (KEY:VALUE) by key, such as {"dc": ["fra", "ams"]} for "dc:fra" and "dc:ams"."""
    names: dict[str, list[str]] = {}
    for tag in tags:
        key, _, value = tag.partition(":")
        names.setdefault(key, []).append(value)
    return names
