"""Settings of PostgreSQL that suit this site, kept by the server for its database.

A connection does not ask for them itself: poolers refuse the parameter that could (`options`).
"""

import logging
from typing import Any

from django.db import DatabaseError, connections, transaction
from psycopg import sql

logger = logging.getLogger(__name__)

SETTINGS = {"jit": "off", "work_mem": "32MB", "random_page_cost": "1.1"}
"""Compiling a statement takes longer than any of ours runs; with the 4 MB of the default the votes
of ten thousand machines are sorted on disk; and disks that seek are not what it runs on today."""

_CHOSEN = """
SELECT split_part(unnest(setconfig), '=', 1) FROM pg_db_role_setting
WHERE setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
    AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
"""


def keep_settings(*, using: str, **_signal: Any) -> None:
    """After `migrate`, in the database; what somebody has set for it or the role stays as it is.

    The site works without them, more slowly: whoever may not change the database is warned.
    """
    try:
        with transaction.atomic(using), connections[using].cursor() as cursor:
            cursor.execute("SELECT current_database()")  # a pooler may call it otherwise
            database = sql.Identifier(cursor.fetchone()[0])
            cursor.execute(_CHOSEN)
            chosen = {name for (name,) in cursor.fetchall()}
            for name in SETTINGS.keys() - chosen:
                value = sql.SQL("SET {} TO {}").format(sql.Identifier(name), SETTINGS[name])
                cursor.execute(sql.SQL("ALTER DATABASE {} {}").format(database, value))
                cursor.execute(value)  # for this connection, which has begun without it
    except DatabaseError as error:
        logger.warning("the database keeps no settings, and answers more slowly: %s", error)
