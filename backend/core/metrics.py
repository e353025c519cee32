"""Serve Prometheus metrics at /metrics.

Request metrics cover the web processes on this host. All other metrics cover the whole site.
"""

import hmac
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import suppress

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from core.backups import newest_backup
from core.signs_of_life import BEAT, WORKER, failed_tasks, last_seen, quick_redis

logger = logging.getLogger(__name__)

COUNTED = CollectorRegistry()

REQUESTS = Counter(
    "ciphermark_http_requests", "Requests answered.", ("method", "status"), registry=COUNTED
)
REQUEST_SECONDS = Histogram(
    "ciphermark_http_request_duration_seconds",
    "Time from a request's arrival in Django to the start of its response.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
    registry=COUNTED,
)

# A scrape must not burden a slow site.
STATEMENT_TIMEOUT = "2s"

OF_DATABASE = {
    "ciphermark_runs_waiting": (
        "Stored runs that are not processed yet.",
        "SELECT count(*) FROM runs_run WHERE status = 'accepted'",
    ),
    "ciphermark_runs_waiting_oldest_age_seconds": (
        "Age of the oldest pending run; 0 without pending runs.",
        "SELECT coalesce(extract(epoch FROM now() - min(received_at)), 0)"
        " FROM runs_run WHERE status = 'accepted'",
    ),
    "ciphermark_runs_rejected": (
        "Rejected runs.",
        "SELECT count(*) FROM runs_run WHERE status = 'rejected'",
    ),
    "ciphermark_hosts_silent": (
        "Hosts without recent runs.",
        "SELECT count(*) FROM changes_fleetchangemember m"
        " JOIN changes_fleetchange c ON c.id = m.change_id"
        " WHERE c.kind = 'silent' AND m.ended_at IS NULL",
    ),
    "ciphermark_notifications_overdue_seconds": (
        "Delay of the oldest overdue message in active channels; 0: none.",
        "SELECT coalesce(extract(epoch FROM now() - min(due_at)), 0)"
        " FROM changes_notification n JOIN changes_notificationchannel c ON c.id = n.channel_id"
        " WHERE n.state = 'waiting' AND n.due_at < now() AND NOT c.paused",
    ),
    "ciphermark_database_size_bytes": (
        "Size of the database on its server's disk.",
        "SELECT pg_database_size(current_database())",
    ),
}


def metrics(request: HttpRequest) -> HttpResponse:
    token = settings.CIPHERMARK_METRICS_TOKEN
    if not token:
        return HttpResponseNotFound("not found\n", content_type="text/plain")
    given = request.headers.get("Authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        challenge = {"WWW-Authenticate": "Bearer"}
        return HttpResponse("a token is needed\n", "text/plain", 401, headers=challenge)
    site, counted = CollectorRegistry(), COUNTED
    site.register(_Site())
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:  # config.gunicorn
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    return HttpResponse(
        generate_latest(site) + generate_latest(counted), content_type=CONTENT_TYPE_LATEST
    )


class _Site(Collector):
    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily(
            "ciphermark_up",
            "1 if the web server reaches this part of the site, else 0.",
            labels=["part"],
        )
        for part, read in (("database", _of_database), ("redis", _of_redis)):
            metrics = _read(part, read)
            up.add_metric([part], metrics is not None)
            yield from metrics or ()
        yield up
        newest = None
        with suppress(OSError):  # just deleted, or not readable
            newest = newest_backup()
        if newest is not None:
            yield GaugeMetricFamily(
                "ciphermark_newest_backup_timestamp_seconds",
                "Time of the newest dump in CIPHERMARK_BACKUPS_DIR (Unix time).",
                newest,
            )


def _read(part: str, read: Callable[[], list[Metric]]) -> list[Metric] | None:
    try:
        return read()
    except (DatabaseError, RedisError) as error:
        logger.warning("metrics: cannot read %s: %s", part, error)
        return None


def _of_database() -> list[Metric]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [STATEMENT_TIMEOUT])
        cursor.execute(f"SELECT {', '.join(f'({sql})' for _, sql in OF_DATABASE.values())}")
        numbers = cursor.fetchone()
    return [
        GaugeMetricFamily(name, meaning, float(number))
        for (name, (meaning, _)), number in zip(OF_DATABASE.items(), numbers, strict=True)
    ]


def _of_redis() -> list[Metric]:
    quick_redis().ping()
    seen = GaugeMetricFamily(
        "ciphermark_last_seen_timestamp_seconds",
        "Last heartbeat of worker and beat (Unix time).",
        labels=["part"],
    )
    for part, at in last_seen().items():
        if part in (WORKER, BEAT):
            seen.add_metric([part], at)
    failed = "Failed tasks of all workers."
    return [seen, CounterMetricFamily("ciphermark_tasks_failed", failed, failed_tasks())]
