"""What cannot answer just now: the database, Redis or the analytics copy."""

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

RETRY_AFTER = 10
"""Seconds, of the 503 that says so."""

UNREACHABLE = (OperationalError, InterfaceError)


class AnalyticsUnavailable(Exception):
    """The copy cannot answer just now; the text says why, without a full stop."""


class DataMoved(AnalyticsUnavailable):
    """What an answer is about was removed while it was made: made again, it is right."""


def outage_message(error: Exception) -> str | None:
    """What an exception says cannot answer, as a sentence; None for every other failure."""
    if isinstance(error, AnalyticsUnavailable):
        return str(error)
    if isinstance(error, UNREACHABLE):
        return "The database cannot be reached just now"
    if isinstance(error, (RedisError, BrokerError)):
        return "Redis cannot be reached just now"
    return None
