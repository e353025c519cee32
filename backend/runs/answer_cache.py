"""Answers kept in Redis, ready to send, for the version of the data that they were made from.

A changed version is another key: nothing is ever taken away by hand, what is old expires. Without
Redis every answer is made anew.
"""

import hashlib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

from analysis.comparison import NEEDS_PROFILE
from runs.data_version import data_version
from runs.queries.profiles import profiles_stamp
from runs.queries.selection import ComparisonQuery
from runs.rollups import Lag, allowing_lag

logger = logging.getLogger(__name__)

KEPT_SECONDS = 600
"""Of views that are looked at again and again; a version of the data seldom lives longer."""

MOST_BYTES = 1_000_000
"""Larger answers are made anew: a site with ten thousand groups would fill the memory of Redis."""

SAID_EVERY_SECONDS = 60

_said_at = -float(SAID_EVERY_SECONDS)


def cached_answer(
    kind: str, query: ComparisonQuery, make: Callable[[Lag], bytes], extra: str = ""
) -> bytes:
    """The answer to a query, from the cache or made; `extra` is what else it hangs on.

    Rollups may lag while it is made: `make` gets told and has to say so, and such an answer is
    not kept.
    """
    key = _key(kind, query, extra)
    kept = _get(key)
    if kept is not None:
        return kept
    with allowing_lag() as lag:
        made = make(lag)
    if lag.as_of is None and len(made) <= MOST_BYTES:
        _set(key, made)
    return made


def _key(kind: str, query: ComparisonQuery, extra: str) -> str:
    # The version is read before anything else: what is read after it is as new, or newer.
    version = str(data_version())
    profiles = profiles_stamp() if query.metric in NEEDS_PROFILE else ""
    asked = json.dumps(asdict(query), sort_keys=True, default=str)
    text = "\n".join((kind, program_stamp(), version, profiles, asked, extra))
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
        logger.warning("Redis cannot be reached, so every answer is made anew: %s", error)


@lru_cache(maxsize=1)
def program_stamp() -> str:
    """Another one for every change of the program, its templates and its assets."""
    backend = Path(__file__).parent.parent
    files = [*backend.rglob("*.py"), *backend.rglob("*.html")]
    files += Path(settings.STATIC_ROOT).glob("staticfiles.json")
    facts = sorted((str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files)
    return hashlib.sha256(repr(facts).encode()).hexdigest()
