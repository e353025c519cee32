"""The analytics copy: snapshots for processes to start from, and whether it says the truth."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from results.analytics.maintenance import check, rebuild, snapshot
from store.outage import AnalyticsUnavailable, ObjectStorageUnavailable
from store.site_command import SiteCommand


class Command(SiteCommand):
    """Write a snapshot of the analytics copy, check the copy, or build it again."""

    help = "Write a snapshot of the analytics copy, check it against PostgreSQL, or rebuild it."

    def add_arguments(self, parser: CommandParser) -> None:
        """One of three."""
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--snapshot", action="store_true", help="if anything has changed")
        which.add_argument("--check", action="store_true", help="exit 1 where it differs")
        which.add_argument("--rebuild", action="store_true", help="in every process")

    def handle(self, *_: Any, **options: Any) -> None:
        """Say what was done."""
        try:
            if options["check"]:
                self._check()
                return
            written = rebuild() if options["rebuild"] else snapshot()
        except (AnalyticsUnavailable, ObjectStorageUnavailable) as error:
            raise CommandError(f"{str(error).rstrip('.')}.") from None
        self.stdout.write(f"Written: {written}" if written else "Nothing has changed.")

    def _check(self) -> None:
        differences = check()
        if differences is None:
            self.stdout.write("There is no copy to check yet: processes read PostgreSQL.")
            return
        for one in differences:
            self.stdout.write(one)
        if differences:
            raise CommandError("Build it again: manage.py analytics --rebuild")
        self.stdout.write("The copy is what PostgreSQL has.")
