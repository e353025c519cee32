"""The beginning of a process of a pool; imports no model before Django is ready."""

import signal
from typing import Any

import django


def start(database: dict[str, Any]) -> None:
    """Get ready on this database. Ctrl-C is the caller's matter: what is begun is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    django.setup()
    from django.db import connection  # only now there are settings

    connection.settings_dict.update(database)
