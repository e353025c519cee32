"""What an operator's probes ask: alive, ready to work, and how much."""

import logging
import time
from collections.abc import Callable
from math import inf
from threading import Lock

from celery import current_app
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from monitoring.metrics import metrics
from telemetry.signs_of_life import last_seen

logger = logging.getLogger(__name__)

WORKER_ANSWERS_WITHIN = 1.0
"""Seconds that a worker has to answer a ping."""

CLOCK_TOLERANCE = 60.0
"""Seconds by which the clocks of the site's machines may differ."""

KEPT_SECONDS = 1.0
"""How long what was found serves everybody who asks."""

TRUE_SECONDS = 5.0
"""How long it may be told while somebody looks again."""


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
    others = {"pattern": "^(?!notifier@)", "matcher": "pcre"}  # they process no runs
    return bool(current_app.control.ping(timeout=WORKER_ANSWERS_WITHIN, limit=1, **others))


def _clock() -> bool:
    """Return whether no part was last seen in the future: else a clock was ahead."""
    return all(at < time.time() + CLOCK_TOLERANCE for at in last_seen().values())


PARTS: dict[str, Callable[[], bool]] = {
    "database": _database,
    "redis": _redis,
    "worker": _worker,
    "clock": _clock,
}
FAULTS = {"clock": "was ahead"}
"""Part -> what is said of its fault; of others that they are unreachable."""


def _reachable(name: str, probe: Callable[[], bool]) -> bool:
    try:
        return probe()
    except (DatabaseError, RedisError, BrokerError, OSError) as error:
        logger.warning("%s is not reachable: %s", name, error)
        return False


class _Readiness:
    """What could be reached when somebody last looked; one request of a process looks at a time.

    Anybody may ask, uncounted: a flood of probes is one look a second, and holds no thread.
    """

    def __init__(self) -> None:
        self._looking = Lock()
        self._found: dict[str, bool] = {}
        self._at = -inf

    def parts(self) -> dict[str, bool]:
        """Part -> whether it can be reached, as of a second ago at most unless a look takes long.

        Who comes meanwhile gets what was found before. Where that is too old to be true, and the
        look does not end either, nothing can be reached.
        """
        if self._age < KEPT_SECONDS:
            return self._found
        young = self._age < TRUE_SECONDS
        if not self._looking.acquire(timeout=0 if young else TRUE_SECONDS):
            return self._found if young else dict.fromkeys(PARTS, False)
        try:
            if self._age >= KEPT_SECONDS:
                self._found = {name: _reachable(name, probe) for name, probe in PARTS.items()}
                self._at = time.monotonic()
            return self._found
        finally:
            self._looking.release()

    @property
    def _age(self) -> float:
        return time.monotonic() - self._at


_readiness = _Readiness()


def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when all parts are well, else 503 naming the fault."""
    parts = _readiness.parts()
    ready = all(parts.values())
    return JsonResponse(
        {name: "ok" if well else FAULTS.get(name, "unreachable") for name, well in parts.items()},
        status=200 if ready else 503,
        headers={} if ready else {"Retry-After": "5"},
    )


PROBES: dict[str, Callable[[HttpRequest], HttpResponse]] = {
    "/healthz": healthz,
    "/readyz": readyz,
    "/metrics": metrics,
}


class ProbesMiddleware:
    """Answers probes before the host name is checked or a request is redirected to HTTPS.

    Load balancers, orchestrators and Prometheus ask by IP address over plain HTTP. These answers
    contain no URL, so a forged host name cannot get into them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a probe, or pass the request on."""
        probe = PROBES.get(request.path_info)
        if probe is None:
            return self.get_response(request)
        answer = probe(request)
        answer["Cache-Control"] = "no-store"
        return answer
