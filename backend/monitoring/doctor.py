"""Every check of `manage.py doctor`, in the order in which faults follow from each other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.db import DatabaseError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from monitoring.checks import configuration, machine, processes, servers
from monitoring.checks.finding import Finding, warning
from telemetry.redaction import without_secrets

FAILURES = (DatabaseError, RedisError, BrokerError, OSError)


@dataclass(frozen=True)
class Check:
    """`needs`: names of checks that must not be wrong for this one to make sense."""

    name: str
    run: Callable[[], Finding]
    needs: tuple[str, ...] = ()


CHECKS = (
    Check("settings", configuration.unknown_settings),
    Check("database", servers.database),
    Check("migrations", servers.migrations, ("database",)),
    Check("replica", servers.replica, ("database",)),
    Check("clock", servers.clock, ("database",)),
    Check("redis", servers.redis),
    Check("worker", processes.worker, ("redis",)),
    Check("beat", processes.beat, ("redis",)),
    Check("runs", processes.waiting, ("database", "migrations")),
    Check("analytics", servers.analytics, ("database", "migrations", "redis")),
    Check("disk", machine.disk),
    Check("files", servers.files),
    Check("documents", servers.documents, ("database", "migrations")),
    Check("static files", machine.static_files),
    Check("backups", machine.backups),
    Check("allowed hosts", configuration.allowed_hosts),
    Check("proxies", configuration.proxies, ("redis",)),
    Check("e-mail", configuration.email),
    Check("sign-in", configuration.sign_in),
)


def examine() -> Iterator[tuple[str, Finding]]:
    """Name and finding of each check, as soon as it is known."""
    wrong: set[str] = set()
    for check in CHECKS:
        missing = [name for name in check.needs if name in wrong]
        finding = _unchecked(missing[0]) if missing else _run(check)
        if finding.state == "wrong":
            wrong.add(check.name)
        yield check.name, finding


def _unchecked(needed: str) -> Finding:
    return warning("not checked", f"See {needed}.")


def _run(check: Check) -> Finding:
    try:
        return check.run()
    except FAILURES as error:
        return warning(f"not checked: {without_secrets(str(error))}", "Run doctor again.")
