from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

RETRY_AFTER = 10
"""Value in seconds of the Retry-After header of responses with status 503."""

UNREACHABLE = (OperationalError, InterfaceError)


class AnalyticsUnavailable(Exception):
    """Report that the analytics copy, a second database for comparisons, is unavailable.

    The message must not end with a full stop.
    """


def outage_message(error: Exception) -> str | None:
    """Describe an outage of the database, of the analytics copy or of Redis.

    Return a sentence without a full stop, or None if `error` is not an outage.
    """
    if isinstance(error, AnalyticsUnavailable):
        return str(error)
    if isinstance(error, UNREACHABLE):
        return "The database is not reachable"
    if isinstance(error, (RedisError, BrokerError)):
        return "Redis is not reachable"
    return None
