"""When parts of the site last said that they live, and how many tasks have failed, in Redis."""

import time
from contextlib import suppress
from functools import lru_cache

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

PATIENCE = 0.25
"""Seconds that a caller waits for Redis before it goes on without."""

SEEN = "ciphermark:last-seen"
"""A hash: part -> Unix seconds."""

FAILED = "ciphermark:tasks-failed"

WORKER = "worker"
BEAT = "beat"


def quick_redis() -> Redis:
    """Return the client of the configured Redis."""
    return _client(settings.REDIS_URL)


@lru_cache(maxsize=4)
def _client(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)


def leave_sign(part: str) -> None:
    """Record that this part is alive; ignored while Redis is away."""
    with suppress(RedisError):
        quick_redis().hset(SEEN, part, time.time())


def last_seen() -> dict[str, float]:
    """Return when each part last left a sign. Raises `RedisError`."""
    seen: dict[bytes, bytes] = quick_redis().hgetall(SEEN)  # type: ignore[assignment]
    return {part.decode(): float(at) for part, at in seen.items()}


def count_failed_task() -> None:
    with suppress(RedisError):
        quick_redis().incr(FAILED)


def failed_tasks() -> int:
    """Return how many tasks have failed since Redis began. Raises `RedisError`."""
    return int(quick_redis().get(FAILED) or 0)
