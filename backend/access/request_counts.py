"""Counting requests in Redis: one round trip each, and open when Redis is away.

Django's cache and DRF's throttles built on it read a list of times and write it back: two round
trips, and at 50 uploads a second 3,000 times in every one of them.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from redis.exceptions import RedisError

from store.redis_client import quick_redis

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

PREFIX = "ciphermark:throttle"

WINDOW = 60
"""Seconds in which requests are counted together."""

RETRY_REDIS = 5.0
"""Seconds without counting after Redis could not be reached: no request waits meanwhile."""


@dataclass
class _Outage:
    """Until when (monotonic seconds) Redis is left alone."""

    until: float = 0.0


_outage = _Outage()


def seconds_to_wait(kind: str, who: str, limit: int) -> int | None:
    """Count a request of `who`; how long to wait when it is one too many, else None.

    `limit` requests are let in each minute, by the clock; 0 counts nothing. When Redis cannot be
    reached everybody is let in, with a line in the log: work goes on.
    """
    if limit <= 0:
        return None
    now = time.time()
    count = _asked(lambda: _count(f"{PREFIX}:{kind}:{who}:{int(now // WINDOW)}"))
    return None if count is None or count <= limit else int(WINDOW - now % WINDOW) + 1


def _asked(ask: Callable[[], Answer]) -> Answer | None:
    """What Redis answers; None while it cannot be reached."""
    if time.monotonic() < _outage.until:
        return None
    try:
        return ask()
    except RedisError as error:
        _outage.until = time.monotonic() + RETRY_REDIS
        logger.warning("Redis cannot be reached, so requests are not counted: %s", error)
        return None


def _count(key: str) -> int:
    count = quick_redis().incr(key)
    if count == 1:
        quick_redis().expire(key, 2 * WINDOW)
    return int(count)
