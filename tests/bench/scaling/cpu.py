"""CPU time of this process and of the database's, around a piece of work."""

import time
from collections.abc import Callable

from django.conf import settings

from config.embedded.postgres import Postgres

Spent = tuple[float, float]
"""CPU seconds of the program, CPU seconds of PostgreSQL."""


def database_seconds() -> float:
    """CPU seconds of all PostgreSQL's processes so far, those that have ended too."""
    server = Postgres(settings.DATA_DIR.resolve()).process()
    if server is None:
        raise AssertionError("costs are measured on the embedded PostgreSQL, which does not run")
    # The times of its children that have ended are in the last two.
    return sum(server.cpu_times()[:4]) + sum(
        sum(child.cpu_times()[:2]) for child in server.children()
    )


def spent_by(work: Callable[[], object], program: Callable[[], float] = time.process_time) -> Spent:
    """What a piece of work costs; `program` tells the CPU seconds of the program so far."""
    before = program(), database_seconds()
    work()
    return program() - before[0], database_seconds() - before[1]
