"""What goes wrong: each part killed, paused and restarted, connections cut, data lost."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from tests.chaos.parts import kill_one_child, paused
from tests.chaos.proxy import CuttingProxy
from tests.chaos.site import Site

PARTS = ("web", "worker", "beat", "redis", "postgres")

BACK_AFTER = 1.0
"""Seconds until what watches over the parts (compose, systemd) starts a dead one again."""


@dataclass(frozen=True)
class Rehearsal:
    """Where the faults happen."""

    site: Site
    proxy: CuttingProxy
    pause_seconds: float


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong while uploads come in."""

    name: str
    happen: Callable[[Rehearsal], None]


def _killed(name: str) -> Fault:
    def happen(at: Rehearsal) -> None:
        at.site.parts[name].kill()
        time.sleep(BACK_AFTER)
        at.site.parts[name].start()

    return Fault(f"{name}: kill -9", happen)


def _paused(name: str) -> Fault:
    def happen(at: Rehearsal) -> None:
        with paused(at.site.parts[name]):
            time.sleep(at.pause_seconds)

    return Fault(f"{name}: paused", happen)


def _restarted(name: str) -> Fault:
    def happen(at: Rehearsal) -> None:
        at.site.parts[name].stop()
        at.site.parts[name].start()

    return Fault(f"{name}: restarted", happen)


def _child_killed(name: str) -> Fault:
    def happen(at: Rehearsal) -> None:
        kill_one_child(at.site.parts[name])

    return Fault(f"{name}: one process kill -9", happen)


def _backend_killed(at: Rehearsal) -> None:
    kill_one_child(at.site.parts["postgres"], _serves_a_client)


def _serves_a_client(process: psutil.Process) -> bool:
    # PostgreSQL names its processes: "postgres: postgres ciphermark [local] idle".
    try:
        return "[local]" in " ".join(process.cmdline())
    except psutil.Error:
        return False


def _clients_cut(at: Rehearsal) -> None:
    with at.proxy.cutting():
        time.sleep(at.pause_seconds / 2)


def _database_connections_cut(at: Rehearsal) -> None:
    with at.site.database(autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


def _redis_connections_cut(at: Rehearsal) -> None:
    with at.site.redis() as client:
        for kind in ("normal", "pubsub"):
            client.execute_command("CLIENT", "KILL", "TYPE", kind)


def _redis_flushed(at: Rehearsal) -> None:
    with paused(at.site.parts["worker"]):
        time.sleep(1.0)  # so that there is something in the queue to lose
        with at.site.redis() as client:
            client.flushall()


OTHERS = (
    Fault("postgres: one process kill -9", _backend_killed),
    Fault("connections of the clients cut", _clients_cut),
    Fault("connections to PostgreSQL cut", _database_connections_cut),
    Fault("connections to Redis cut", _redis_connections_cut),
    Fault("Redis's data lost", _redis_flushed),
)


def all_faults(seed: int) -> list[Fault]:
    """Every fault once, in an order that follows from the seed."""
    each = (_killed, _paused, _restarted)
    faults = [make(name) for make in each for name in PARTS]
    faults += [_child_killed("web"), _child_killed("worker"), *OTHERS]
    random.Random(seed).shuffle(faults)
    return faults


def few_faults(seed: int) -> list[Fault]:
    """For a rehearsal of seconds: every part killed, one paused, connections and data lost."""
    faults = [_killed(name) for name in PARTS]
    faults += [_paused("postgres"), OTHERS[1], OTHERS[4]]
    random.Random(seed).shuffle(faults)
    return faults
