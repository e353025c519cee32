"""Worker and beat, and whether work is done."""

import time

from celery import current_app
from django.db import connection
from redis.exceptions import RedisError

from monitoring.checks.finding import Finding, duration, ok, warning, wrong
from monitoring.checks.remedies import start
from telemetry.signs_of_life import BEAT, last_seen

ANSWERS_WITHIN = 2.0

BEAT_SILENT = 180.0
"""Seconds: beat sends a task each minute."""

WAITS_LONG = 60.0
WAITS_TOO_LONG = 300.0

_WAITING = """
SELECT count(*), coalesce(extract(epoch FROM now() - min(received_at)), 0)::float8
FROM runs_run WHERE status = 'accepted'
"""


def worker() -> Finding:
    """Every worker that answers."""
    answers = current_app.control.ping(timeout=ANSWERS_WITHIN) or []
    names = sorted(name for answer in answers for name in answer)
    if not names:
        return wrong(
            f"none answered within {ANSWERS_WITHIN:.0f} s",
            f"Start one: {start('worker')}. Uploads are stored and wait for it.",
        )
    return ok(", ".join(names))


def waiting() -> Finding:
    """Runs that are stored and not processed."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING)
        count, age = cursor.fetchone()
    if not count:
        return ok("no run waits to be processed")
    waits = "1 run waits" if count == 1 else f"{count} runs wait"
    found = f"{waits} to be processed, the oldest for {duration(age)}"
    to_do = "See the worker's log; where it works without pause, start another one."
    if age > WAITS_TOO_LONG:
        return wrong(found, to_do)
    return warning(found, to_do) if age > WAITS_LONG else ok(found)


def beat() -> Finding:
    """When it last sent a task."""
    to_do = f"Start exactly one: {start('beat')}."
    try:
        seen = last_seen().get(BEAT)
    except RedisError:
        return warning("unknown while Redis is away", "Start Redis first.")
    if seen is None:
        return wrong("has left no sign of life", to_do)
    silent = max(0.0, time.time() - seen)
    if silent > BEAT_SILENT:
        return wrong(f"has been silent for {duration(silent)}", to_do)
    return ok(f"sent a task {duration(silent)} ago")
