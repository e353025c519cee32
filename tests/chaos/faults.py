"""What goes wrong: each part killed, paused and restarted, connections cut, data lost."""

import contextlib
import http.client
import random
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from tests.chaos.parts import kill_one_child, paused, wait_until
from tests.chaos.proxy import CuttingProxy
from tests.chaos.site import Site
from tests.chaos.truth import QUESTION

PARTS = ("web", "worker", "beat", "redis", "postgres")

PART = "part-*"
"""Folders of snapshots that are being written."""

SEND_TASK = """
import django
django.setup()
from config.celery import app
app.send_task("results.tasks.write_analytics_snapshot")
"""

BACK_AFTER = 1.0
"""Seconds until what watches over the parts (compose, systemd) starts a dead one again."""


@dataclass(frozen=True)
class Rehearsal:
    """Where the faults happen."""

    site: Site
    proxy: CuttingProxy
    pause_seconds: float
    kills: int
    """Of the processes that write or follow a copy, one after the other."""


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


def _killed_while_following(at: Rehearsal) -> None:
    """Each question has a process bring its copy up to date, beside uploads always."""
    dice = random.Random(at.kills)
    for _ in range(at.kills):
        asking = threading.Thread(target=_ask, args=(at.site.url + QUESTION,))
        asking.start()
        time.sleep(dice.uniform(0, 0.06))
        kill_one_child(at.site.parts["web"])
        asking.join()


def _ask(address: str) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        urllib.request.urlopen(address, timeout=30).close()


def _killed_while_writing(at: Rehearsal) -> None:
    """A snapshot is killed when its folder appears; the next one is written whole."""
    folder = at.site.folder / "analytics"
    for _ in range(at.kills):
        writing = at.site.start("manage.py", "analytics", "--snapshot")
        before = set(folder.glob(PART))
        while writing.poll() is None and set(folder.glob(PART)) <= before:
            time.sleep(0.001)
        writing.kill()
        writing.wait()
    at.site.manage("analytics", "--snapshot")
    at.site.manage("analytics", "--check")


def _snapshot_task_killed(at: Rehearsal) -> None:
    """The worker's snapshot, at some moment of its start or work."""
    at.site.program("-c", SEND_TASK)
    wait_until(lambda: bool(_snapshots(at)), at.pause_seconds + 30, "no snapshot is written")
    time.sleep(random.Random(at.kills).uniform(0.5, 2))
    for process in _snapshots(at):
        with contextlib.suppress(psutil.Error):
            process.kill()


def _snapshots(at: Rehearsal) -> list[psutil.Process]:
    found = []
    for process in at.site.parts["worker"].processes():
        with contextlib.suppress(psutil.Error):
            if "analytics" in process.cmdline():
                found.append(process)
    return found


OTHERS = (
    Fault("postgres: one process kill -9", _backend_killed),
    Fault("connections of the clients cut", _clients_cut),
    Fault("connections to PostgreSQL cut", _database_connections_cut),
    Fault("connections to Redis cut", _redis_connections_cut),
    Fault("Redis's data lost", _redis_flushed),
    Fault("web: kill -9 while its copy follows", _killed_while_following),
    Fault("snapshot: kill -9 while written", _killed_while_writing),
    Fault("snapshot of the worker: kill -9", _snapshot_task_killed),
)


def all_faults(seed: int) -> list[Fault]:
    """Every fault once, in an order that follows from the seed."""
    each = (_killed, _paused, _restarted)
    faults = [make(name) for make in each for name in PARTS]
    faults += [_child_killed("web"), _child_killed("worker"), *OTHERS]
    random.Random(seed).shuffle(faults)
    return faults


def few_faults(seed: int) -> list[Fault]:
    """For a rehearsal of seconds: whatever answers killed, one paused, connections, data lost."""
    faults = [_killed(name) for name in PARTS if name != "beat"]
    faults += [_paused("postgres"), OTHERS[1], *OTHERS[4:6]]
    random.Random(seed).shuffle(faults)
    return faults
