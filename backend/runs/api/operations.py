"""What an operator's probes ask: alive, and ready to work."""

import logging
from collections.abc import Callable

from celery import current_app
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

WORKER_ANSWERS_WITHIN = 1.0
"""Seconds that a worker has to answer a ping."""


def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


def _database() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return True


def _redis() -> bool:
    cache.get("readyz")
    return True


def _worker() -> bool:
    return bool(current_app.control.ping(timeout=WORKER_ANSWERS_WITHIN, limit=1))


PARTS: dict[str, Callable[[], bool]] = {"database": _database, "redis": _redis, "worker": _worker}


def _reachable(name: str, probe: Callable[[], bool]) -> bool:
    try:
        return probe()
    except (DatabaseError, RedisError, BrokerError, OSError) as error:
        logger.warning("%s is not reachable: %s", name, error)
        return False


def readyz(request: HttpRequest) -> JsonResponse:
    """200 when database, Redis and a worker can be reached, else 503 naming which cannot."""
    parts = {name: _reachable(name, probe) for name, probe in PARTS.items()}
    ready = all(parts.values())
    return JsonResponse(
        {name: "ok" if well else "unreachable" for name, well in parts.items()},
        status=200 if ready else 503,
        headers={} if ready else {"Retry-After": "5"},
    )
