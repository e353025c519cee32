from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from core.outage import AnalyticsUnavailable
from core.site_command import SiteCommand


class Command(SiteCommand):
    help = "Rebuild the analytics copies of all processes, or the ClickHouse tables."

    def add_arguments(self, parser: CommandParser) -> None:
        # The option is required because a rebuild takes minutes on a large site.
        parser.add_argument("--rebuild", action="store_true", required=True)

    def handle(self, *_: Any, **__: Any) -> None:
        if not settings.CIPHERMARK_ANALYTICS_URL:
            with connection.cursor() as cursor:
                cursor.execute("INSERT INTO runs_change DEFAULT VALUES")
            return
        from compare.clickhouse import follow

        try:
            follow(rebuild=True)
        except AnalyticsUnavailable as error:
            raise CommandError(f"{error}.") from None
