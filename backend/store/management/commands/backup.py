"""manage.py backup [FILE] [--keep N] [--verify]"""

import signal
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from store.backups.programs import BackupRefused
from store.backups.verifying import verify
from store.backups.writing import backup_to, backups_in, new_path, remove_old, write_backup
from store.replica import ReplicaFailed
from store.site_command import SiteCommand

ENDED = 128 + signal.SIGTERM
"""The exit code of whatever SIGTERM ends, as shells say it."""


class Command(SiteCommand):
    """Write everything to one file, while the site runs; or try such a file."""

    help = "Write the whole database, documents included, to one file; or --verify such a file."

    def run_from_argv(self, argv: list[str]) -> None:
        """An end by SIGTERM removes what was begun, as one by Ctrl-C does."""
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(ENDED))
        super().run_from_argv(argv)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to, and what becomes of the older ones."""
        parser.add_argument(
            "file",
            nargs="?",
            default=str(settings.BACKUPS_DIR),
            help="A new file; a folder, for a name with the date; - for standard output."
            " CIPHERMARK_BACKUPS_DIR when not given.",
        )
        either = parser.add_mutually_exclusive_group()
        either.add_argument(
            "--keep",
            type=int,
            metavar="N",
            help="Then remove all but the latest N that were named by date in the folder.",
        )
        either.add_argument(
            "--verify",
            action="store_true",
            help="Restore FILE, or the latest in a folder, into a scratch database, and compare.",
        )

    def handle(self, *, file: str, keep: int | None, verify: bool, **_: Any) -> None:
        """Write or verify, and say how much it is."""
        try:
            if verify:
                self._verify(Path(file))
            elif file == "-" and keep is None:
                backup_to(sys.stdout.buffer)
            else:
                self._write(Path(file), keep)
        except BackupRefused as reason:
            raise CommandError(str(reason)) from None
        except ReplicaFailed as failure:  # a file would have been begun again
            words = f"What was written is no whole backup, call this again. {failure}"
            raise CommandError(words) from None

    def _write(self, path: Path, keep: int | None) -> None:
        if path == settings.BACKUPS_DIR:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = path if path.is_dir() else None
        if keep is not None and (folder is None or keep < 1):
            raise BackupRefused("--keep is 1 or more, and for a folder of backups.")
        path = new_path(folder) if folder else path
        size = write_backup(path)
        self.stdout.write(f"{path}: {size:,} bytes. Keep it as safe as the database itself.")
        if folder and keep:
            for old in remove_old(folder, keep):
                self.stdout.write(f"{old} removed.")

    def _verify(self, path: Path) -> None:
        if path.is_dir():
            if not (found := backups_in(path)):
                raise BackupRefused(f"{path} has no backup that was named by its date.")
            path = found[-1]
        if not path.is_file():
            raise BackupRefused(f"{path} is not there, or no backup.")
        manifest = verify(path)
        self.stdout.write(
            f"{path}: whole. {sum(manifest.rows.values()):,} rows in {len(manifest.rows)} tables,"
            f" as they were at {manifest.made_at}, and every document byte for byte."
        )
