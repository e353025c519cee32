"""The Redis of this process for what must not keep a request waiting."""

from functools import lru_cache

from django.conf import settings
from redis import Redis

PATIENCE = 0.25
"""Seconds that a caller waits for Redis before it goes on without."""


def quick_redis() -> Redis:
    """The client of the Redis that the settings name."""
    return _client(settings.REDIS_URL)


@lru_cache(maxsize=4)
def _client(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)
