"""manage.py restore FILE [--replace]"""

import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from store.backups import BackupRefused, check_version, is_empty, restore
from store.database_programs import NoProgram, ProgramFailed


class Command(BaseCommand):
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
            with _as_file(file) as path:
                behind = check_version(path)
                if not (replace or is_empty()):
                    raise BackupRefused(
                        "This database is not empty; --replace throws away what is in it."
                    )
                restore(path)
        except (BackupRefused, NoProgram, ProgramFailed) as reason:
            raise CommandError(str(reason)) from None
        call_command("migrate", interactive=False, verbosity=0)
        call_command("renew_runs")
        updated = f" It was {behind} migrations behind and is up to date now." if behind else ""
        self.stdout.write(f"Restored from {file}.{updated} Everybody has to sign in again.")


@contextmanager
def _as_file(name: str) -> Iterator[Path]:
    if name != "-":
        path = Path(name)
        if not path.is_file():
            raise BackupRefused(f"{path} is not there, or not a file.")
        yield path
        return
    with tempfile.NamedTemporaryFile() as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
        stream.flush()
        yield Path(stream.name)
