from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

RETRY_AFTER = 10
"""Seconds in the Retry-After header of a 503."""

UNREACHABLE = (OperationalError, InterfaceError)


class AnalyticsUnavailable(Exception):
    """Report that the analytics copy is unavailable. The message has no full stop."""


def outage_message(error: Exception) -> str | None:
    """Return a message without a full stop, or None if `error` is not an outage."""
    if isinstance(error, AnalyticsUnavailable):
        return str(error)
    if isinstance(error, UNREACHABLE):
        return "The database is not reachable"
    if isinstance(error, (RedisError, BrokerError)):
        return "Redis is not reachable"
    return None
