"""Describe errors of unavailable services."""

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

RETRY_AFTER = 10
"""Value of Retry-After in a 503, in seconds."""

UNREACHABLE = (OperationalError, InterfaceError)


class AnalyticsUnavailable(Exception):
    """Raised when the analytics copy is unavailable; the message has no full stop."""


def outage_message(error: Exception) -> str | None:
    """Describe an outage in a sentence; return None for other errors."""
    if isinstance(error, AnalyticsUnavailable):
        return str(error)
    if isinstance(error, UNREACHABLE):
        return "The database is not reachable"
    if isinstance(error, (RedisError, BrokerError)):
        return "Redis is not reachable"
    return None
