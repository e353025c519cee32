"""Answers kept in Redis, ready to send, for the version of the data that they were made from.

A changed version is another key: entries are never deleted, they expire. Without Redis every answer
is computed.
"""

import hashlib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

from compare.question import ComparisonQuery
from store.data_version import data_version
from store.outage import DataMoved

logger = logging.getLogger(__name__)

KEPT_SECONDS = 600
"""Of views that are looked at again and again; a version of the data seldom lives longer."""

MOST_BYTES = 1_000_000
"""Larger answers are not cached: a site with ten thousand groups would fill the memory of Redis."""

SAID_EVERY_SECONDS = 60

_said_at = -float(SAID_EVERY_SECONDS)


def cached_answer(
    kind: str,
    query: ComparisonQuery,
    make: Callable[[], bytes],
    extra: str = "",
    version: UUID | None = None,
) -> bytes:
    """The answer to a query, from the cache or made; `extra` is whatever else it depends on.

    `version`: the present version of the data, if the caller knows it.
    """
    # The version is read before anything else: what is read after it is as new, or newer.
    version = version or data_version()
    key = _key(kind, query, f"{version} {extra}")
    kept = _get(key)
    if kept is not None:
        return kept
    try:
        made = make()
    except DataMoved:
        made = make()
    if len(made) <= MOST_BYTES:
        _set(key, made)
    return made


def _key(kind: str, query: ComparisonQuery, extra: str) -> str:
    asked = json.dumps(asdict(query), sort_keys=True, default=str)
    text = "\n".join((kind, program_stamp(), asked, extra))
    return f"answer-{hashlib.sha256(text.encode()).hexdigest()}"


def _get(key: str) -> bytes | None:
    try:
        found = cache.get(key)
    except (RedisError, OSError) as error:
        _say(error)
        return None
    return found if isinstance(found, bytes) else None


def _set(key: str, answer: bytes) -> None:
    try:
        cache.set(key, answer, timeout=KEPT_SECONDS)
    except (RedisError, OSError) as error:
        _say(error)


def _say(error: Exception) -> None:
    """One line a minute, not one a request."""
    global _said_at
    if time.monotonic() - _said_at >= SAID_EVERY_SECONDS:
        _said_at = time.monotonic()
        logger.warning("Redis cannot be reached, so no answer is cached: %s", error)


def program_stamp() -> str:
    """Another one for every change of the program, its templates and its assets."""
    return _program()[0]


def program_changed_at() -> float:
    """Unix time of the last change of any of its files."""
    return _program()[1]


@lru_cache(maxsize=1)
def _program() -> tuple[str, float]:
    backend = Path(__file__).parent.parent
    files = [*backend.rglob("*.py"), *backend.rglob("*.html")]
    files += Path(settings.STATIC_ROOT).glob("staticfiles.json")
    stats = {str(file): file.stat() for file in files}
    facts = sorted((path, stat.st_size, stat.st_mtime_ns) for path, stat in stats.items())
    # The time of the inode: files that are installed may bring an old time of their content.
    changed_at = max(stat.st_ctime for stat in stats.values())
    return hashlib.sha256(repr(facts).encode()).hexdigest(), changed_at
