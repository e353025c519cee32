"""Statements that the server plans once for each connection."""

from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper


def prepared_cursor() -> CursorWrapper:
    """A cursor of Django's connection, within its transaction: `config.postgresql` has more."""
    engine: Any = connection  # Django's type knows nothing of what our engine adds
    cursor: CursorWrapper = engine.prepared_cursor()
    return cursor
