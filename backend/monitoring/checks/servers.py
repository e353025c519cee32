"""PostgreSQL, Redis, object storage: reachable, new enough, of this version, on time."""

import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from redis.exceptions import RedisError

from monitoring.checks.finding import Finding, ok, warning, wrong
from monitoring.checks.remedies import prepare, start_server
from reports.export_files import try_out
from results.analytics.maintenance import snapshot_lag
from results.analytics.shared_snapshots import try_listing
from store.models import Run, RunDocument
from store.outage import AnalyticsUnavailable, ObjectStorageUnavailable
from store.redis_client import quick_redis
from store.replica import PAGE_SECONDS, has_replica, replica_state
from store.run_documents import document_bytes
from telemetry.redaction import without_secrets

OLDEST_POSTGRES = 15
OLDEST_REDIS = (6, 2)

MOST_SKEW = 60.0
"""Seconds: by then the ages of runs, sessions and tokens are wrong for people."""

NOTICED_SKEW = 2.0

MOST_BEHIND = 300.0
"""Seconds; questions then bring much themselves."""

MOST_CONNECTIONS = 0.8
MOST_MEMORY = 0.9
"""Of what the server allows; beyond it something will be refused soon."""

_DATABASE = """
SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000,
    pg_is_in_recovery(), pg_size_pretty(pg_database_size(current_database())),
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
    current_setting('max_connections')::int
"""


def database() -> Finding:
    """Reachable, of a version that is tested, writable, with connections left."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_DATABASE)
            version, major, is_standby, size, used, most = cursor.fetchone()
    except DatabaseError as error:
        return wrong(
            f"cannot be reached: {_first_line(error)}",
            f"{start_server('PostgreSQL', 'postgres')} and compare DATABASE_URL with its host, name"
            " and password.",
        )
    found = f"PostgreSQL {version}, {size}, {used} of {most} connections"
    if is_standby:
        return wrong(f"{found}; a standby, which takes no writes", "Name the primary server.")
    if major < OLDEST_POSTGRES:
        return warning(found, f"Update it: {OLDEST_POSTGRES} is the oldest that is tested.")
    if used > MOST_CONNECTIONS * most:
        return warning(found, "Raise max_connections, or have fewer web threads and workers.")
    return ok(found)


def replica() -> Finding:
    """Whether it is read: reachable, a standby of this primary, as far as it is or soon so."""
    if not has_replica():
        return ok("none")
    state = replica_state(PAGE_SECONDS)
    if state.fault:
        return warning(
            f"not read, the primary is: {without_secrets(state.fault)}",
            "Start the standby, and compare DATABASE_REPLICA_URL with its host, database and"
            " password; after a failover leave it empty, and name the promoted server in"
            " DATABASE_URL.",
        )
    if not state.is_at_position:
        return warning(
            f"lists are read from the primary: what the replica shows is {state.lag_seconds:.1f} s"
            f" old, and it does not catch up within {PAGE_SECONDS:g} s",
            "See what keeps it: pg_stat_replication of the primary; the log of the standby, and"
            " its recovery_min_apply_delay.",
        )
    if not state.has_feedback:
        return warning(
            "hot_standby_feedback is off",
            "Set hot_standby_feedback = on in its postgresql.conf, and reload: long files and"
            " backups are cancelled without it.",
        )
    return ok("has everything that is committed")


def migrations() -> Finding:
    """Those of the database are those of this program."""
    executor = MigrationExecutor(connection)
    loader = executor.loader
    missing = executor.migration_plan(loader.graph.leaf_nodes())
    ours = {app for app, _ in loader.disk_migrations}
    unknown = set(loader.applied_migrations) - set(loader.disk_migrations)
    newer = sorted(f"{app}.{name}" for app, name in unknown if app in ours)
    if newer:
        return wrong(
            f"the database is of a newer version: it has {newer[0]}",
            "Install that version again, or restore a backup of this one.",
        )
    if missing:
        return wrong(
            f"{len(missing)} are not applied, first {missing[0][0]}",
            f"{prepare()}; or manage.py migrate, then manage.py renew_runs.",
        )
    return ok(f"all {len(loader.applied_migrations)} applied")


def files() -> Finding:
    """Whether exports can be kept where web processes find them."""
    if not settings.CIPHERMARK_STORAGE_URL:
        return ok("in a folder of this machine")
    try:
        try_out()
    except (ObjectStorageUnavailable, OSError) as error:
        return wrong(
            f"the object storage does not take them: {without_secrets(str(error))}",
            "Compare CIPHERMARK_STORAGE_URL and its keys with the bucket, which must exist and let"
            " them list, read, write and delete; and see that it can be reached from here.",
        )
    return ok("in object storage")


def analytics() -> Finding:
    """Whether ClickHouse answers and is up to date; of copies, where their snapshots are shared."""
    if not settings.CIPHERMARK_ANALYTICS_URL:
        return _snapshots()
    try:
        with connection.cursor() as cursor:
            behind = snapshot_lag(cursor)
    except AnalyticsUnavailable as error:
        return wrong(
            str(error),
            "Compare CIPHERMARK_ANALYTICS_URL with its host, user, password and database, in which"
            " the user may create, fill, read and drop tables.",
        )
    if behind is None:
        return warning(
            "ClickHouse has nothing of this database yet",
            "See whether worker and beat run: they bring it; manage.py analytics --snapshot does.",
        )
    found = f"in ClickHouse, {behind:.0f} s behind"
    if behind > MOST_BEHIND:
        return warning(found, "See whether worker and beat run, and what the worker's log says.")
    return ok(found)


def _snapshots() -> Finding:
    found = "copies in the web processes"
    try:
        return ok(f"{found}, snapshots in object storage" if try_listing() else found)
    except (ObjectStorageUnavailable, OSError) as error:
        return wrong(
            f"the object storage does not list their snapshots: {without_secrets(str(error))}",
            "Compare CIPHERMARK_ANALYTICS_URL, or CIPHERMARK_STORAGE_URL where that names no"
            " bucket, with the bucket, which must exist and let them list, read, write and delete.",
        )


def documents() -> Finding:
    """Whether what moved to object storage is there, by the latest, and what is old has moved."""
    moved = RunDocument.objects.filter(moved__isnull=False)
    latest, found = moved.order_by("pk").last(), "in the database"
    if latest is not None:
        found = f"{moved.count()} in object storage"
        if not settings.CIPHERMARK_STORAGE_URL:
            return wrong(f"{found}, which is not set", "Set CIPHERMARK_STORAGE_URL again.")
        try:
            document_bytes(latest)
        except ObjectStorageUnavailable as error:
            return wrong(
                f"{found}; of the latest: {without_secrets(str(error))}",
                "Compare CIPHERMARK_STORAGE_URL with the bucket and folder that they moved to.",
            )
    days = settings.CIPHERMARK_DOCUMENTS_DAYS
    if days is not None and _are_late(timezone.now() - timedelta(days=days + 2)):
        return warning(
            f"{found}; others have been older than CIPHERMARK_DOCUMENTS_DAYS for two days",
            "manage.py move_documents says why they do not move.",
        )
    return ok(found)


def _are_late(before: datetime) -> bool:
    ended = Run.objects.exclude(status=Run.Status.ACCEPTED)
    return ended.filter(received_at__lt=before, document__moved=None).exists()


def clock() -> Finding:
    """The clock of this machine against the database's, within half of the time of asking."""
    before = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        theirs = cursor.fetchone()[0]
    after = time.time()
    skew = theirs - (before + after) / 2
    found = f"{abs(skew):.1f} s {'behind' if skew > 0 else 'ahead of'} the database's"
    to_do = "Synchronise both machines (timedatectl set-ntp true): ages and expiry go by them."
    if abs(skew) > MOST_SKEW:
        return wrong(found, to_do)
    return warning(found, to_do) if abs(skew) > NOTICED_SKEW else ok(found)


def redis() -> Finding:
    """Reachable, new enough, and never throws away tasks."""
    try:
        said = quick_redis().info()
    except RedisError as error:
        return wrong(
            f"cannot be reached: {_first_line(error)}",
            f"{start_server('Redis', 'redis')} and compare REDIS_URL with its host and password."
            " Uploads are stored meanwhile and processed afterwards.",
        )
    version, policy = str(said["redis_version"]), str(said.get("maxmemory_policy", ""))
    used, most = int(said["used_memory"]), int(said.get("maxmemory", 0))
    found = f"Redis {version}, {used / 1e6:.0f} MB" + (f" of {most / 1e6:.0f} MB" if most else "")
    if tuple(map(int, version.split(".")[:2])) < OLDEST_REDIS:
        return wrong(found, "Update it: 6.2 is the oldest that works.")
    if policy.startswith("allkeys"):
        return warning(f"{found}, {policy}", "Set maxmemory-policy volatile-lru: tasks are keys.")
    if most and used > MOST_MEMORY * most:
        return warning(found, "Raise maxmemory; beyond it no task can be queued.")
    return ok(found)


def _first_line(error: Exception) -> str:
    lines = without_secrets(str(error)).strip().splitlines()
    return lines[0] if lines else type(error).__name__
