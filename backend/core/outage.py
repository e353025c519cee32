"""What is not answered: for now (database, Redis, copy), or as it was asked."""

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

RETRY_AFTER = 10
"""Seconds, of the 503 that says so."""

UNREACHABLE = (OperationalError, InterfaceError)


class AnalyticsUnavailable(Exception):
    """The copy cannot answer just now; the text says why, without a full stop."""


def outage_message(error: Exception) -> str | None:
    """Return a sentence about what cannot answer; None for every other failure."""
    if isinstance(error, AnalyticsUnavailable):
        return str(error)
    if isinstance(error, UNREACHABLE):
        return "The database cannot be reached just now"
    if isinstance(error, (RedisError, BrokerError)):
        return "Redis cannot be reached just now"
    return None


class Unanswerable(LookupError):
    """What is wrong, as a sentence, with which parameter of the question."""

    def __init__(self, parameter: str, sentence: str) -> None:
        super().__init__(sentence)
        self.parameter, self.sentence = parameter, sentence
