"""Store the heartbeats of worker and beat, and the number of failed tasks, in Redis."""

import time
from contextlib import suppress
from functools import lru_cache

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

PATIENCE = 0.25
"""Timeout of requests to Redis in seconds."""

SEEN = "ciphermark:last-seen"
"""Key of a Redis hash that maps a process name to the Unix time of the last heartbeat."""

FAILED = "ciphermark:tasks-failed"

WORKER = "worker"
BEAT = "beat"


def quick_redis() -> Redis:
    return _client(settings.REDIS_URL)


@lru_cache(maxsize=4)
def _client(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)


def leave_sign(part: str) -> None:
    """Record a heartbeat of the process `part`. Do nothing if Redis is unavailable."""
    with suppress(RedisError):
        quick_redis().hset(SEEN, part, time.time())


def last_seen() -> dict[str, float]:
    """Return the Unix time of the last heartbeat of each process, by process name.

    Raise `RedisError` if Redis is unavailable.
    """
    seen: dict[bytes, bytes] = quick_redis().hgetall(SEEN)  # type: ignore[assignment]
    return {part.decode(): float(at) for part, at in seen.items()}


def count_failed_task() -> None:
    with suppress(RedisError):
        quick_redis().incr(FAILED)


def failed_tasks() -> int:
    """Return the number of failed tasks since the Redis database was created.

    Raise `RedisError` if Redis is unavailable.
    """
    return int(quick_redis().get(FAILED) or 0)
