"""The lock between processing runs, which share it, and edits of what they read."""

from django.db import connection

LOCK = 5_901_214
"""Of the database's advisory locks."""

HOLD_OFF_EDITS = f"SELECT pg_advisory_xact_lock_shared({LOCK})"
"""A statement that waits for an edit; until its transaction ends no other is begun."""


def wait_for_processing() -> None:
    """Wait for the runs being processed; until this transaction ends no other is begun."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock({LOCK})")


def hold_off_edits() -> None:
    """Wait for an edit that is being made; until this transaction ends no other is begun.

    What is derived from runs locks their rows in another order than edits do.
    """
    with connection.cursor() as cursor:
        cursor.execute(HOLD_OFF_EDITS)
