"""What stands in PostgreSQL, Redis and folders, read at the moment somebody asks."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.db import DatabaseError, connection, transaction
from kombu.exceptions import OperationalError as BrokerError
from prometheus_client.core import GaugeMetricFamily
from redis.exceptions import RedisError

from monitoring.checks.machine import newest_backup
from results.analytics.maintenance import snapshot_age, snapshot_lag
from store.broker import waiting_tasks
from store.models import ExportJob, Notification
from store.outage import AnalyticsUnavailable
from store.redis_client import quick_redis
from store.replica import has_replica, replica_state
from telemetry.signs_of_life import BEAT, WORKER, last_seen

logger = logging.getLogger(__name__)

STATEMENT_TIMEOUT = "2s"
"""Of each question to PostgreSQL: to be asked must not burden a site that is slow already."""

FAILURES = (DatabaseError, RedisError, BrokerError, OSError)

Values = Mapping[str, float]
"""Value of the label -> number; of a gauge without a label the key is empty."""


@dataclass(frozen=True)
class Gauge:
    """A number that goes up and down. `part` must be reachable to `read` it."""

    name: str
    meaning: str
    part: str
    read: Callable[[], Values]
    label: str = ""


def _ask(statement: str) -> list[tuple[str, float]]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [STATEMENT_TIMEOUT])
        cursor.execute(statement)
        return [(row[0], float(row[1])) for row in cursor.fetchall()]


def _sql(statement: str) -> Callable[[], Values]:
    """What a statement says: rows of label and number."""
    return lambda: dict(_ask(statement))


def _each(states: Sequence[str], statement: str) -> Callable[[], Values]:
    """The same, with 0 for a state that nothing is in: an alert cannot miss what is not there."""
    return lambda: {**dict.fromkeys(states, 0.0), **dict(_ask(statement))}


def _tasks() -> Values:
    return {"": waiting_tasks()}


def _signs() -> Values:
    return {part: at for part, at in last_seen().items() if part in (WORKER, BEAT)}


def _snapshot_age() -> Values:
    try:
        age = snapshot_age()
    except AnalyticsUnavailable:  # ClickHouse's, which says so itself
        return {}
    return {} if age is None else {"": age}


def _backup() -> Values:
    made = newest_backup()
    return {} if made is None else {"": made}


def _lag() -> Values:
    """The snapshot's is left out where there is none: then every start reads everything."""
    found, lag = dict(_ask(_UNINDEXED)), None
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [STATEMENT_TIMEOUT])
        # Without Redis nobody knows which snapshot is the newest, but the profiles stand;
        # and without ClickHouse what it has.
        with suppress(RedisError, AnalyticsUnavailable):
            lag = snapshot_lag(cursor)
    return found if lag is None else {**found, "analytics_snapshot": lag}


def _replica_lag() -> Values:
    """Nothing where there is no replica, or none that can be read: `ciphermark_up` says so."""
    if not has_replica():
        return {}
    state = replica_state()
    return {} if state.fault else {"": state.lag_seconds}


_OLDEST = "coalesce(extract(epoch FROM now() - min(received_at)), 0)"
_OVERDUE = """
SELECT '', coalesce(extract(epoch FROM now() - min(due_at)), 0)
FROM runs_notification n JOIN runs_notificationchannel c ON c.id = n.channel_id
WHERE n.state = 'waiting' AND n.due_at < now() AND NOT c.paused
"""
_ACCEPTED = "FROM runs_run WHERE status = 'accepted'"
_UNINDEXED = """
SELECT 'speed_indices', coalesce(extract(epoch FROM now() - min(created_at)), 0)
FROM runs_referenceprofile WHERE completed_at IS NULL
"""

GAUGES = (
    Gauge(
        "ciphermark_runs_waiting",
        "Runs that are stored and not processed yet.",
        "database",
        _sql(f"SELECT '', count(*) {_ACCEPTED}"),
    ),
    Gauge(
        "ciphermark_runs_waiting_oldest_age_seconds",
        "Time since the oldest of them arrived; 0 when none waits.",
        "database",
        _sql(f"SELECT '', {_OLDEST} {_ACCEPTED}"),
    ),
    Gauge(
        "ciphermark_hosts_due",
        "Hosts whose changes are to be found again.",
        "database",
        _sql("SELECT '', count(*) FROM runs_hostwatch WHERE due > 0"),
    ),
    Gauge(
        "ciphermark_export_jobs",
        "Files made in the background, by state.",
        "database",
        _each(ExportJob.Status.values, "SELECT status, count(*) FROM runs_exportjob GROUP BY 1"),
        "status",
    ),
    Gauge(
        "ciphermark_notifications",
        "Entries for channels of the last 90 days, by state.",
        "database",
        _each(
            Notification.State.values, "SELECT state, count(*) FROM runs_notification GROUP BY 1"
        ),
        "state",
    ),
    Gauge(
        "ciphermark_notifications_overdue_seconds",
        "How long the oldest waits beyond its time, by channels that are not paused; 0: none.",
        "database",
        _sql(_OVERDUE),
    ),
    Gauge(
        "ciphermark_database_size_bytes",
        "Size of the database on its server's disk.",
        "database",
        _sql("SELECT '', pg_database_size(current_database())"),
    ),
    Gauge(
        "ciphermark_derived_lag_seconds",
        "Age of the oldest change that is not yet in what is derived of the runs; 0: none.",
        "database",
        _lag,
        "derived",
    ),
    Gauge(
        "ciphermark_replica_lag_seconds",
        "Age of what the replica shows; 0: it has everything.",
        "database",
        _replica_lag,
    ),
    Gauge(
        "ciphermark_analytics_snapshot_age_seconds",
        "Age of the newest snapshot of the analytics copy, which web processes start from.",
        "redis",
        _snapshot_age,
    ),
    Gauge(
        "ciphermark_newest_backup_timestamp_seconds",
        "When the newest dump in CIPHERMARK_BACKUPS_DIR was written (Unix time).",
        "folder",
        _backup,
    ),
    Gauge("ciphermark_tasks_waiting", "Tasks that no worker has taken yet.", "redis", _tasks),
    Gauge(
        "ciphermark_last_seen_timestamp_seconds",
        "When worker and beat last left a sign of life (Unix time).",
        "redis",
        _signs,
        "part",
    ),
)


def _database() -> Values:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return {}


def _redis() -> Values:
    quick_redis().ping()
    return {}


def _replica() -> Values:
    fault = replica_state().fault
    if fault:
        raise OSError(fault)
    return {}


PARTS: dict[str, Callable[[], Values]] = {"database": _database, "redis": _redis}
UP = Gauge("ciphermark_up", "Whether a part of the site can be reached.", "", dict, "part")


def _read(name: str, call: Callable[[], Values]) -> Values | None:
    """What a question says; None, with a line in the log, when it cannot be answered."""
    try:
        return call()
    except FAILURES as error:
        logger.warning("metrics: %s cannot be read: %s", name, error)
        return None


def read_gauges() -> Iterator[GaugeMetricFamily]:
    """First which parts can be reached, then every gauge that can be read."""
    parts = PARTS | ({"replica": _replica} if has_replica() else {})
    up = {part: _read(part, probe) is not None for part, probe in parts.items()}
    yield _family(UP, up)
    for gauge in GAUGES:
        values = _read(gauge.name, gauge.read) if up.get(gauge.part, True) else None
        if values is not None:
            yield _family(gauge, values)


def _family(gauge: Gauge, values: Values) -> GaugeMetricFamily:
    has_label = bool(gauge.label)
    family = GaugeMetricFamily(gauge.name, gauge.meaning, labels=[gauge.label] if has_label else [])
    for label, number in values.items():
        family.add_metric([label] if has_label else [], float(number))
    return family
