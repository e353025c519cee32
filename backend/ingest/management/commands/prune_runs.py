"""manage.py prune_runs [--older-than DAYS] [--no-keep-latest] [--dry-run]"""

import time
from argparse import ArgumentParser, BooleanOptionalAction
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize
from django.utils import timezone

from ingest.edits.pruning import Old, count_old, prune
from store.site_command import SiteCommand

MOST_DAYS = 100_000
"""Nothing was measured before, and dates end somewhere."""


class Command(SiteCommand):
    """Delete old runs."""

    help = (
        "Delete runs that began long ago, with their documents. A host's latest result of each "
        "series stays, as do published figures and runs that a reference profile was made of."
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

    def handle(self, *, older_than: int | None, keep_latest: bool, dry_run: bool, **_: Any) -> None:
        """Count or delete, and say how many."""
        if older_than is None:
            raise CommandError("Say --older-than DAYS, or set CIPHERMARK_KEEP_DAYS.")
        if not 0 < older_than <= MOST_DAYS:
            raise CommandError(f"--older-than must be 1 to {MOST_DAYS} days.")
        old = Old(timezone.now() - timedelta(days=older_than), keep_latest)
        if dry_run:
            count = count_old(old)
            self.stdout.write(f"{count} run{pluralize(count)} would be deleted.")
            return
        began, deleted = time.monotonic(), 0
        for count in prune(old):
            deleted += count
        rate = deleted / max(time.monotonic() - began, 0.001)
        self.stdout.write(f"{deleted} run{pluralize(deleted)} deleted, {rate:.0f} a second.")
