from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from core.backups import BackupRefused, restore
from core.site_command import SiteCommand
from runs.models import Run


class Command(SiteCommand):
    help = "Restore the database from FILE in one transaction."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="Backup file, or - for standard input.")
        parser.add_argument(
            "--replace", action="store_true", help="Overwrite a database that contains runs."
        )

    def handle(self, *, file: str, replace: bool, **_: Any) -> None:
        if not replace and _has_runs():
            raise CommandError("The database contains runs. To overwrite them, use --replace.")
        path = None if file == "-" else Path(file)
        if path and not path.is_file():
            raise CommandError(f"{file} does not exist.")
        try:
            restore(path)
        except BackupRefused as reason:
            raise CommandError(f"The database was not changed: {reason}") from None
        call_command("migrate", interactive=False, verbosity=0)
        call_command("renew_runs")
        self.stdout.write(f"Restored from {file}. All users must sign in again.")


def _has_runs() -> bool:
    there = Run._meta.db_table in connection.introspection.table_names()
    return there and Run.objects.exclude(source=Run.Source.PUBLISHED).exists()
