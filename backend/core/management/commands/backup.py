from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from core.backups import (
    BackupRefused,
    new_path,
    remove_old,
    write_backup,
    write_to_stdout,
)
from core.site_command import SiteCommand


class Command(SiteCommand):
    help = "Back up the whole database to a file with pg_dump. The site may be running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            default=str(settings.BACKUPS_DIR),
            help=("New file, folder, or - for standard output (default: CIPHERMARK_BACKUPS_DIR)."),
        )
        parser.add_argument(
            "--keep",
            type=int,
            metavar="N",
            help="Keep only the latest N dated backups in the folder.",
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="Restore the backup into a temporary database and compare all tables.",
        )

    def handle(self, *, file: str, keep: int | None, verify: bool, **_: Any) -> None:
        try:
            if file == "-":
                write_to_stdout()
            else:
                self._write(Path(file), keep, verify)
        except BackupRefused as reason:
            raise CommandError(str(reason)) from None

    def _write(self, path: Path, keep: int | None, verify: bool) -> None:
        if path == settings.BACKUPS_DIR:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = path if path.is_dir() else None
        if keep is not None and (folder is None or keep < 1):
            raise BackupRefused("--keep must be at least 1 and requires a folder.")
        path = new_path(folder) if folder else path
        write_backup(path, verify)
        size, tried = path.stat().st_size, ", verified" if verify else ""
        self.stdout.write(f"Created {path} ({size:,} bytes{tried}). Protect it like the database.")
        if folder and keep:
            for old in remove_old(folder, keep):
                self.stdout.write(f"Removed {old}.")
