"""PostgreSQL and Redis of a data folder, started on demand and stopped by their last user.

`start_services` is all that settings, `make run` and the tests need. The programs come with
`requirements.txt`; a machine needs no database, no root and no free port.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from config.embedded.errors import EmbeddedServiceError
from config.embedded.postgres import Postgres
from config.embedded.redis_server import RedisServer
from config.embedded.share import Share, one_at_a_time

__all__ = [
    "EmbeddedServiceError",
    "Services",
    "celery_url",
    "release_services",
    "start_services",
    "stop_services",
    "stop_unused",
    "stopped_services",
]

_shares: dict[Path, Share] = {}


@dataclass(frozen=True)
class Services:
    """Where the servers are; empty for one that was not asked for."""

    database_url: str
    redis_url: str


def start_services(data_dir: Path, *, postgres: bool = True, redis: bool = True) -> Services:
    """Have the servers of this data folder running until this process ends.

    They are stopped by the last process that used them, however the others ended. Raises
    `EmbeddedServiceError` with one sentence when a server cannot be had.
    """
    data_dir = _prepared(data_dir)
    with one_at_a_time(data_dir):
        _take_share(data_dir)
        return Services(
            database_url=Postgres(data_dir).ensure_running() if postgres else "",
            redis_url=RedisServer(data_dir).ensure_running() if redis else "",
        )


def release_services(data_dir: Path) -> None:
    """Give the servers up before this process ends; the last user stops them."""
    share = _shares.pop(data_dir.resolve(), None)
    if share is not None:
        share.release()


def stop_unused(data_dir: Path) -> None:
    """Stop what a killed process left running in this data folder; used servers go on."""
    if (data_dir / "services.lock").exists():
        _take_share(data_dir.resolve())
        release_services(data_dir)


def stopped_services(data_dir: Path) -> list[str]:
    """Names of the servers of this data folder that do not run now."""
    data_dir = data_dir.resolve()
    servers = (Postgres(data_dir), RedisServer(data_dir))
    return [server.name for server in servers if server.process() is None]


def celery_url(redis_url: str) -> str:
    """The same Redis in the words of Celery, which spells Unix sockets differently.

    And which, unlike the client of all else here, takes any certificate unless it is told not to.
    """
    if redis_url.startswith("rediss://") and "ssl_cert_reqs=" not in redis_url:
        return f"{redis_url}{'&' if '?' in redis_url else '?'}ssl_cert_reqs=required"
    if not redis_url.startswith("unix://"):
        return redis_url
    path, _, query = redis_url.removeprefix("unix://").partition("?")
    database = next((part[3:] for part in query.split("&") if part.startswith("db=")), "0")
    return f"redis+socket://{path}?virtual_host={database}"


def _prepared(data_dir: Path) -> Path:
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedServiceError(
            f"The data folder {data_dir} cannot be made ({error.strerror}): set "
            "CIPHERMARK_DATA_DIR to a folder that this user may write to."
        ) from error
    if not os.access(data_dir, os.W_OK | os.X_OK):
        raise EmbeddedServiceError(
            f"The data folder {data_dir} is not writable for this user: set CIPHERMARK_DATA_DIR "
            "to one that is, or start as its owner."
        )
    return data_dir.resolve()


def _take_share(data_dir: Path) -> None:
    share = _shares.get(data_dir)
    if share is None or share.process_id != os.getpid():
        _shares[data_dir] = Share(data_dir, lambda: stop_services(data_dir))


def stop_services(data_dir: Path) -> None:
    """Stop the servers of this data folder, used or not."""
    # A folder that was removed meanwhile has nothing left to stop in order.
    if data_dir.is_dir():
        Postgres(data_dir).stop()
        RedisServer(data_dir).stop()
