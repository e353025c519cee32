import os
from dataclasses import dataclass
from pathlib import Path

from config.embedded.postgres import Postgres
from config.embedded.redis_server import RedisServer
from config.embedded.server import EmbeddedServiceError as EmbeddedServiceError
from config.embedded.server import Server
from config.embedded.share import Share, one_at_a_time

_shares: dict[Path, Share] = {}


@dataclass(frozen=True)
class Services:
    """Store the URLs of the embedded PostgreSQL and Redis servers.

    A URL is empty if the caller of `start_services` did not request the server.
    """

    database_url: str
    redis_url: str


def start_services(data_dir: Path, *, postgres: bool = True, redis: bool = True) -> Services:
    """Start the embedded PostgreSQL and Redis servers in a data folder, and return their URLs.

    Servers that already run are used. The servers stop when the last process that uses them ends.
    Raise `EmbeddedServiceError` if a server cannot be started.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        (data_dir / "services.lock").touch(mode=0o600)
    except OSError as error:
        raise EmbeddedServiceError(
            f"{data_dir} is not writable ({error.strerror}). Change its owner, or set "
            "CIPHERMARK_DATA_DIR to another folder."
        ) from error
    data_dir = data_dir.resolve()
    with one_at_a_time(data_dir):
        share = _shares.get(data_dir)
        if share is None or share.process_id != os.getpid():
            _shares[data_dir] = Share(data_dir, lambda: stop_services(data_dir))
        return Services(
            database_url=Postgres(data_dir).ensure_running() if postgres else "",
            redis_url=RedisServer(data_dir).ensure_running() if redis else "",
        )


def release_services(data_dir: Path) -> None:
    """Stop the servers of a data folder if no other process uses the servers."""
    share = _shares.pop(data_dir.resolve(), None)
    if share is not None:
        share.release()


def stop_services(data_dir: Path) -> None:
    """Stop the servers of a data folder even if other processes use the servers."""
    for server in servers(data_dir):
        server.stop()


def servers(data_dir: Path) -> tuple[Server, Server]:
    return Postgres(data_dir.resolve()), RedisServer(data_dir.resolve())


def celery_url(redis_url: str) -> str:
    # Celery accepts any certificate unless the URL requires verification.
    if redis_url.startswith("rediss://") and "ssl_cert_reqs=" not in redis_url:
        return f"{redis_url}{'&' if '?' in redis_url else '?'}ssl_cert_reqs=required"
    if not redis_url.startswith("unix://"):
        return redis_url
    path, _, query = redis_url.removeprefix("unix://").partition("?")
    database = next((part[3:] for part in query.split("&") if part.startswith("db=")), "0")
    return f"redis+socket://{path}?virtual_host={database}"
