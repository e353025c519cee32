"""Django's cache in Redis, with one client instead of one for every word to Redis.

Making a client takes longer than asking: it gets a table of everything that Redis may answer.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.core.cache.backends import redis as django_redis
from redis import ConnectionPool, Redis


@lru_cache(maxsize=8)
def _client(pool: ConnectionPool) -> Redis:
    return Redis(connection_pool=pool)


class RedisCacheClient(django_redis.RedisCacheClient):
    """Threads share a client; each of their questions takes a connection of the pool."""

    _get_connection_pool: Callable[[bool], ConnectionPool]

    def get_client(self, key: Any = None, *, write: bool = False) -> Redis:
        """The client of the server that keeps `key`."""
        return _client(self._get_connection_pool(write))


class RedisCache(django_redis.RedisCache):
    """`BACKEND` of the settings."""

    def __init__(self, server: str | list[str], params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = RedisCacheClient
