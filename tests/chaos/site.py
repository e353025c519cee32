"""A site in the production shape on 127.0.0.1: its own PostgreSQL, Redis, web, worker and beat."""

import os
import secrets
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import redis
from psycopg import sql

from config.embedded.postgres import Postgres
from config.embedded.redis_server import RedisServer
from launch.processes import MARK
from tests.chaos.parts import Part, Program, Server, wait_until
from tests.launch.tools import free_port
from tests.production_shape import PROJECT, command_of

READY_SECONDS = 180.0

MIGRATED = "migrated"
"""A database with the tables of the site's, and nothing in them: nobody is connected to it."""


@dataclass
class Site:
    """A running site and its parts by name."""

    folder: Path
    port: int
    environment: dict[str, str]
    parts: dict[str, Part]

    @property
    def url(self) -> str:
        """Where it answers, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def manage(self, *arguments: str, database: str = "") -> str:
        """What a management command prints; `database` is one of `new_database`."""
        return self.program("manage.py", *arguments, database=database)

    def program(self, *arguments: str, database: str = "") -> str:
        """What a Python program prints, started in the project with the site's settings."""
        url = {"DATABASE_URL": database} if database else {}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=PROJECT,
            env={**self.environment, **url},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """A Python program of the site that somebody else waits for; what it prints is lost."""
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=PROJECT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def new_database(self, name: str, template: str = "template1") -> str:
        """Another database on the same server, a copy of the template; its URL."""
        names = map(sql.Identifier, (name, template))
        with psycopg.connect(self._on_the_server("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
        return self._on_the_server(name)

    def _on_the_server(self, name: str) -> str:
        parts = urlsplit(self.environment["DATABASE_URL"])
        return parts._replace(path=f"/{name}").geturl()

    def database(self, **options: Any) -> "psycopg.Connection[Any]":
        """A connection of our own to the site's database."""
        return psycopg.connect(self.environment["DATABASE_URL"], **options)

    def redis(self) -> "redis.Redis":
        """A connection of our own to the site's Redis."""
        return redis.Redis.from_url(self.environment["REDIS_URL"])

    def is_ready(self) -> bool:
        """Whether /readyz says that database, Redis and worker can be reached."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:
                return int(answer.status) == 200
        except (urllib.error.URLError, OSError):
            return False


def _environment(folder: Path, servers: tuple[Postgres, RedisServer]) -> dict[str, str]:
    postgres, redis_server = servers
    kept = (MARK, "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PATH": programs,
        "PYTHONPATH": os.pathsep.join(str(PROJECT / part) for part in ("backend", "agent", ".")),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CIPHERMARK_ENV": "production",
        "CIPHERMARK_SECRET_KEY": secrets.token_urlsafe(48),
        "CIPHERMARK_ALLOWED_HOSTS": "127.0.0.1,testserver",
        "CIPHERMARK_SSL_REDIRECT": "0",
        # One client stands for a whole fleet here.
        "CIPHERMARK_TOKEN_RATE": "0",
        "CIPHERMARK_ADDRESS_RATE": "0",
        "CIPHERMARK_DATA_DIR": str(folder),
        "DATABASE_URL": postgres.ensure_running(),
        "REDIS_URL": redis_server.ensure_running(),
    }


@contextmanager
def running_site(
    folder: Path,
    *,
    with_pages: bool,
    public: bool = True,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Site]:
    """Start everything in `folder`, with these settings; it ends with the context, by process."""
    (folder / "log").mkdir(parents=True, exist_ok=True)
    servers = Postgres(folder), RedisServer(folder)
    parts: dict[str, Part] = {
        "postgres": Server("postgres", servers[0]),
        "redis": Server("redis", servers[1]),
    }
    with ExitStack() as stack:
        for part in parts.values():
            stack.callback(part.stop)
        site = Site(folder, free_port(), _environment(folder, servers), parts)
        site.environment |= {"CIPHERMARK_PUBLIC": str(int(public)), **(settings or {})}
        site.manage("migrate")
        site.new_database(MIGRATED, template="ciphermark")
        if with_pages:
            site.manage("collectstatic", "--no-input")
        for name in ("web", "worker", "beat"):
            words = [
                word.replace("0.0.0.0:8000", f"127.0.0.1:{site.port}")
                for word in command_of(name, folder)
            ]
            program = Program(name, words, site.environment)
            stack.callback(program.stop)
            program.start()
            parts[name] = program
        wait_until(site.is_ready, READY_SECONDS, f"the site of {folder} is not ready")
        yield site
