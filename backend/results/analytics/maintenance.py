"""What is done for the copies of all processes; where they ask ClickHouse, for that."""

from django.conf import settings
from django.db import connection, transaction

from results.analytics.unseen_changes import forget_old_changes
from store.data_version import data_changed


def tidy() -> None:
    """Forget changes that everybody has seen; bring ClickHouse what it has not."""
    if settings.CIPHERMARK_ANALYTICS_URL:
        from results.analytics.clickhouse.maintenance import keep_up

        keep_up()
    forget_old_changes()


def rebuild() -> None:
    """Have every process build its copy again, or ClickHouse its tables."""
    if settings.CIPHERMARK_ANALYTICS_URL:
        from results.analytics.clickhouse.maintenance import read_anew

        read_anew()
    with transaction.atomic(), connection.cursor() as cursor:
        if not settings.CIPHERMARK_ANALYTICS_URL:
            cursor.execute("INSERT INTO runs_change DEFAULT VALUES")
        data_changed()  # kept answers may be of what is given up
