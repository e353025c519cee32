"""manage.py restore FILE [--replace]"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from store.backups.programs import BackupRefused
from store.backups.restoring import refuse_while_in_use, restore, what_was_brought
from store.site_command import SiteCommand


class Command(SiteCommand):
    """Bring a site back from the file that `backup` wrote."""

    help = "Bring the database back from FILE (- for standard input), all of it or nothing."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """From where, and whether what is there may go."""
        parser.add_argument("file", help="What `backup` wrote; - for standard input.")
        parser.add_argument(
            "--replace", action="store_true", help="Also when the database is not empty."
        )

    def handle(self, *, file: str, replace: bool, **_: Any) -> None:
        """Check, restore, bring it up to this version."""
        try:
            with _opened(file) as stream:
                if not replace and (brought := what_was_brought()):
                    raise BackupRefused(
                        f"This database is not empty, it has {', '.join(brought)};"
                        " --replace throws away what is in it."
                    )
                refuse_while_in_use()
                name = connection.settings_dict["NAME"]
                connection.close()  # psql takes its tables away
                behind = restore(stream, file, name)
        except BackupRefused as reason:
            raise CommandError(str(reason)) from None
        call_command("migrate", interactive=False, verbosity=0)
        call_command("renew_runs")
        updated = f" It was {behind} migrations behind and is up to date now." if behind else ""
        self.stdout.write(f"Restored from {file}.{updated} Everybody has to sign in again.")


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise BackupRefused(f"{name} cannot be read: {error.strerror}.") from None
    with file:
        yield file
