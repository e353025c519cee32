"""What the hand-written statements share: where they read from, and how they are run."""

from typing import Any

from django.db import connection

FROM = """
FROM runs_measurement m
JOIN runs_series s ON s.id = m.series_id
JOIN runs_run r ON r.id = m.run_id
JOIN runs_environment e ON e.id = r.environment_id
"""
"""The tables by the letters that `runs.queries.selection` uses in its conditions."""

LATEST_FIRST = "r.started_at DESC NULLS LAST, r.id DESC"
"""A run of unknown date is never the latest; of one moment the one stored later counts."""


def fetch_rows(statement: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
    """Every row of a SELECT; what users sent is in `parameters`, never in the statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
