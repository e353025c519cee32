"""manage.py prune_runs [--older-than DAYS] [--no-keep-latest] [--dry-run] [--confirm]"""

import time
from argparse import ArgumentParser, BooleanOptionalAction
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize

from ingest.edits.pruning import PruningStopped, count_old, older_than, prune, refuse_too_many
from store.site_command import SiteCommand

MOST_DAYS = 100_000
"""Nothing was measured before, and dates end somewhere."""


class Command(SiteCommand):
    """Delete old runs."""

    help = (
        "Delete runs that began long ago, with their documents. A host's latest result of each "
        "series stays, as do published figures."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which runs."""
        parser.add_argument(
            "--older-than",
            type=int,
            metavar="DAYS",
            default=settings.CIPHERMARK_KEEP_DAYS,
            help="Days since the run began; default CIPHERMARK_KEEP_DAYS.",
        )
        parser.add_argument(
            "--keep-latest",
            action=BooleanOptionalAction,
            default=True,
            help="Whether a host's latest result of each series stays, however old it is.",
        )
        parser.add_argument("--dry-run", action="store_true", help="Only count them.")
        parser.add_argument(
            "--confirm", action="store_true", help="Delete more than a tenth of all runs, too."
        )

    def handle(self, *, keep_latest: bool, dry_run: bool, confirm: bool, **options: Any) -> None:
        """Count or delete, and say how many."""
        days: int | None = options["older_than"]
        if days is None:
            raise CommandError("Say --older-than DAYS, or set CIPHERMARK_KEEP_DAYS.")
        if not 0 < days <= MOST_DAYS:
            raise CommandError(f"--older-than must be 1 to {MOST_DAYS} days.")
        old = older_than(days, keep_latest=keep_latest)
        if dry_run:
            count = count_old(old)
            self.stdout.write(f"{count} run{pluralize(count)} would be deleted.")
            return
        if not confirm:
            try:
                refuse_too_many(old)
            except PruningStopped as stopped:
                raise CommandError(str(stopped)) from None
        began, deleted = time.monotonic(), 0
        for count in prune(old):
            deleted += count
        rate = deleted / max(time.monotonic() - began, 0.001)
        self.stdout.write(f"{deleted} run{pluralize(deleted)} deleted, {rate:.0f} a second.")
