import logging
import time
from collections.abc import Callable
from math import inf
from threading import Lock

from celery import current_app
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

WORKER_ANSWERS_WITHIN = 1.0
KEPT_SECONDS = 1.0
"""Maximum age in seconds of a cached result.
Results are cached because health probes have no rate limit.
"""


def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


def _database() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return True


def _redis() -> bool:
    cache.get("readyz")
    return True


def _worker() -> bool:
    others = {
        "pattern": "^(?!notifier@)",
        "matcher": "pcre",
    }  # ignore notifiers, which process no runs
    return bool(current_app.control.ping(timeout=WORKER_ANSWERS_WITHIN, limit=1, **others))


PARTS: dict[str, Callable[[], bool]] = {
    "database": _database,
    "redis": _redis,
    "worker": _worker,
}


def _is_reachable(name: str, probe: Callable[[], bool]) -> bool:
    try:
        return probe()
    except (DatabaseError, RedisError, BrokerError, OSError) as error:
        logger.warning("cannot reach %s: %s", name, error)
        return False


class Readiness:
    """Check the database, Redis and the worker, and cache the results.

    In each process, only one thread at a time runs the checks.
    """

    def __init__(self) -> None:
        self._looking = Lock()
        self._found: dict[str, bool] = {}
        self._at = -inf

    def parts(self) -> dict[str, bool]:
        with self._looking:
            if time.monotonic() - self._at >= KEPT_SECONDS:
                self._found = {name: _is_reachable(name, probe) for name, probe in PARTS.items()}
                self._at = time.monotonic()
            return self._found


readiness = Readiness()


def readyz(request: HttpRequest) -> JsonResponse:
    """Return status 200 if the database, Redis and a worker are reachable, otherwise status 503.

    The JSON body contains "ok" or "unreachable" for each component.
    """
    parts = readiness.parts()
    is_ready = all(parts.values())
    return JsonResponse(
        {name: "ok" if well else "unreachable" for name, well in parts.items()},
        status=200 if is_ready else 503,
        headers={} if is_ready else {"Retry-After": "5"},
    )
