"""What the site needs in its database and on disk, in one Django process.

Run as a program (`python -m launch.prepare`) by `make run`: starting Django once instead of for
each command is what makes a second start take seconds.
"""

import hashlib
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import django
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import Error, connection
from redis import Redis, RedisError

from launch import paths

REDIS_SECONDS = 5.0
"""For a server that does not answer; the start would wait for it much longer."""


def main() -> None:
    """Bring database, published runs, administrator and static files up to date."""
    try:
        django.setup()
        reach_servers()
    except ImproperlyConfigured as fault:
        sys.stderr.write(f"{fault}\n")
        sys.exit(os.EX_CONFIG)
    folder = paths.data_dir()
    call_command("migrate", interactive=False, verbosity=1, skip_checks=False)
    call_command("renew_runs")
    call_command("load_published")
    make_administrator(folder)
    collect_static(folder)


def reach_servers() -> None:
    """Raise `ImproperlyConfigured`, in a sentence, where PostgreSQL or Redis cannot be used."""
    try:
        connection.ensure_connection()
    except Error as fault:
        raise ImproperlyConfigured(_cannot_be_used("PostgreSQL", fault, "DATABASE_URL")) from fault
    redis = Redis.from_url(
        settings.REDIS_URL, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
    )
    try:
        redis.ping()
    except RedisError as fault:
        raise ImproperlyConfigured(_cannot_be_used("Redis", fault, "REDIS_URL")) from fault


def _cannot_be_used(server: str, fault: Exception, setting: str) -> str:
    reason = str(fault).partition("\n")[0].rstrip(".")
    return f"{server} cannot be used: {reason}. Start it, or correct {setting}."


def make_administrator(folder: Path) -> None:
    """An administrator for this machine, with a password that only its owner can read."""
    from django.contrib.auth.models import Group

    if get_user_model().objects.filter(is_superuser=True).exists():
        return
    path = paths.password_file(folder)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(descriptor, 0o600)
    password = secrets.token_urlsafe(12)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(f"{password}\n")
    os.environ["DJANGO_SUPERUSER_PASSWORD"] = password
    call_command(
        "createsuperuser", interactive=False, username=paths.ADMINISTRATOR, email="admin@localhost"
    )
    made = get_user_model().objects.get(username=paths.ADMINISTRATOR)
    made.groups.add(Group.objects.get(name="administrator"))


def collect_static(folder: Path) -> None:
    """Gather and compress what the web server serves, unless nothing of it has changed."""
    stamp = folder / "static-collected-from"
    wanted = _static_digest()
    if stamp.exists() and stamp.read_text() == wanted and Path(settings.STATIC_ROOT).is_dir():
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=1)
    stamp.write_text(wanted)


def _static_digest() -> str:
    digest = hashlib.sha256((paths.PROJECT / "requirements.txt").read_bytes())
    for path in sorted(_static_sources()):
        digest.update(str(path.relative_to(paths.PROJECT)).encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _static_sources() -> Iterator[Path]:
    for folder in (paths.FRONTEND / "dist", *paths.BACKEND.glob("*/static")):
        yield from (path for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
