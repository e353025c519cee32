"""The version of everything that comparisons read: what is cached is cached for one version."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from store.statements import fetch_rows

CHANGE = """
INSERT INTO runs_dataversion (id, version, changed_at)
VALUES (1, gen_random_uuid(), clock_timestamp())
ON CONFLICT (id) DO UPDATE SET version = EXCLUDED.version, changed_at = EXCLUDED.changed_at
"""
"""What `data_changed` does, as a statement."""


def data_changed() -> None:
    """Say, as the last statement of a transaction, that answers may differ once it is committed.

    The row stays locked until then: a reader never sees the new version with the old figures.
    """
    with connection.cursor() as cursor:
        cursor.execute(CHANGE)


class DataState(NamedTuple):
    """A version, and when it came about; None: nothing was ever stored."""

    version: UUID
    changed_at: datetime | None


def data_state() -> DataState:
    """The present state; figures read after this call are at least as new."""
    rows = fetch_rows("SELECT version, changed_at FROM runs_dataversion", [])
    return DataState(*rows[0]) if rows else DataState(UUID(int=0), None)


def data_version() -> UUID:
    """The present version."""
    return data_state().version
