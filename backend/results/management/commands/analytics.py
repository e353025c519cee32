"""manage.py analytics --rebuild"""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from results.analytics.maintenance import rebuild
from store.outage import AnalyticsUnavailable
from store.site_command import SiteCommand


class Command(SiteCommand):
    """Have what answers comparisons read everything from PostgreSQL again."""

    help = "Build the copies of all processes, or ClickHouse's tables, again from PostgreSQL."

    def add_arguments(self, parser: CommandParser) -> None:
        """Said in full: it costs minutes on a large site."""
        parser.add_argument("--rebuild", action="store_true", required=True)

    def handle(self, *_: Any, **__: Any) -> None:
        """Rebuild."""
        try:
            rebuild()
        except AnalyticsUnavailable as error:
            raise CommandError(f"{str(error).rstrip('.')}.") from None
