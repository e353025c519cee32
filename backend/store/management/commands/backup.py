"""manage.py backup FILE"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from store.backups import BackupRefused, dump_to, write_backup
from store.database_programs import NoProgram, ProgramFailed


class Command(BaseCommand):
    """Write everything to one file, while the site runs."""

    help = "Write the whole database, documents included, to FILE (- for standard output)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to."""
        parser.add_argument("file", help="A new file; - for standard output.")

    def handle(self, *, file: str, **_: Any) -> None:
        """Write, and say how much it is."""
        try:
            if file == "-":
                dump_to(sys.stdout.buffer)
                return
            size = write_backup(Path(file))
        except (BackupRefused, NoProgram, ProgramFailed) as reason:
            raise CommandError(str(reason)) from None
        self.stdout.write(f"{file}: {size:,} bytes. Keep it as safe as the database itself.")
