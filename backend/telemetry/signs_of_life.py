"""When parts of the site last said that they live, and how many tasks have failed, in Redis."""

import time
from contextlib import suppress

from redis.exceptions import RedisError

from store.redis_client import quick_redis

SEEN = "ciphermark:last-seen"
"""A hash: part -> Unix seconds."""

FAILED = "ciphermark:tasks-failed"

WORKER = "worker"
BEAT = "beat"


def leave_sign(part: str) -> None:
    """Say that this part lives; nobody notices while Redis is away."""
    with suppress(RedisError):
        quick_redis().hset(SEEN, part, time.time())


def last_seen() -> dict[str, float]:
    """Return when each part last left a sign. Raises `RedisError`."""
    found: dict[bytes, bytes] = quick_redis().hgetall(SEEN)  # type: ignore[assignment]
    return {part.decode(): float(at) for part, at in found.items()}


def count_failed_task() -> None:
    """Count one more."""
    with suppress(RedisError):
        quick_redis().incr(FAILED)


def failed_tasks() -> int:
    """Return how many tasks have failed since Redis began. Raises `RedisError`."""
    return int(quick_redis().get(FAILED) or 0)
