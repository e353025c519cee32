from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize

from core.site_command import SiteCommand
from runs.pruning import old_runs, prune

MOST_DAYS = 100_000


class Command(SiteCommand):
    help = (
        "Delete old runs with their documents. Keeps the latest run of each host and environment, "
        "and published results."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--older-than",
            type=int,
            metavar="DAYS",
            default=settings.CIPHERMARK_KEEP_DAYS,
            help="Minimum age in days (default: CIPHERMARK_KEEP_DAYS).",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="Count the runs without deleting them."
        )

    def handle(self, *, dry_run: bool, **options: Any) -> None:
        days: int | None = options["older_than"]
        if days is None:
            raise CommandError("Use --older-than DAYS, or set CIPHERMARK_KEEP_DAYS.")
        if not 0 < days <= MOST_DAYS:
            raise CommandError(f"--older-than must be between 1 and {MOST_DAYS}.")
        if dry_run:
            count = old_runs(days).count()
            self.stdout.write(f"{count} run{pluralize(count)} would be deleted.")
        else:
            count = sum(prune(days))
            self.stdout.write(f"{count} run{pluralize(count)} deleted.")
