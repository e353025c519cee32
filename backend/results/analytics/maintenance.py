"""What is done for the copies of all processes: snapshots, checks, a fresh start.

Where they ask ClickHouse, for that.
"""

import os
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from results.analytics.copy import (
    Duck,
    apply,
    bring_up_to_date,
    copy_of_all,
    filled_copy,
    is_too_much,
)
from results.analytics.snapshot import (
    fetch_snapshot,
    newest,
    read_snapshot,
    share_newest,
    write_snapshot,
)
from results.analytics.tables import TABLES
from results.analytics.unseen_changes import (
    changes_since,
    forget_old_changes,
    oldest_unseen_change,
    present_state,
)
from store.data_version import data_changed
from store.outage import ObjectStorageUnavailable
from store.statements import one_moment


def snapshot() -> str | None:
    """Write what has changed: to a snapshot, or to ClickHouse. Where, None when nothing has.

    Changes that everybody has seen are forgotten.
    """
    if not settings.CIPHERMARK_ANALYTICS_URL:
        path = _snapshot()
        return os.fspath(path) if path else None
    from results.analytics.clickhouse.maintenance import keep_up

    changed = keep_up()
    forget_old_changes()
    return "ClickHouse" if changed else None


def _snapshot() -> Path | None:
    fetch_snapshot()
    with connection.cursor() as cursor:
        state = present_state(cursor)
        found = read_snapshot(state.epoch)
        changes = changes_since(cursor, found[1]) if found else None
    if found is None or changes is None or is_too_much(changes):
        duck = copy_of_all()
    elif changes:
        duck, state = found[0], changes.state
        bring_up_to_date(duck, changes)
    else:
        share_newest(found[1])
        return None
    forget_old_changes()
    path = write_snapshot(duck, state)
    share_newest(state)
    return path


def rebuild() -> str:
    """Have every process build its copy again, from a snapshot that is read from PostgreSQL.

    Or ClickHouse its tables. Where it was written. Raises `ObjectStorageUnavailable` where that is
    this machine alone, though machines share their snapshots.
    """
    if settings.CIPHERMARK_ANALYTICS_URL:
        from results.analytics.clickhouse.maintenance import read_anew

        read_anew()
        with transaction.atomic():
            data_changed()  # kept answers may be of the tables that are given up
        return "ClickHouse"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO runs_change DEFAULT VALUES")
        data_changed()  # kept answers may be of the copy that is given up
    with connection.cursor() as cursor:
        state = present_state(cursor)
    path = write_snapshot(copy_of_all(), state)
    if not share_newest(state):
        raise ObjectStorageUnavailable(
            f"{path} is written, but the object storage did not take it (the log says why):"
            " other machines build their copies from PostgreSQL. Once it does, call"
            " this again."
        )
    return os.fspath(path)


def check() -> list[str] | None:
    """Where the newest snapshot, or ClickHouse, brought up to date, differs from PostgreSQL.

    None where there is nothing that questions would begin with.
    """
    found = _copies()
    if found is None:
        return None
    truth, duck = found
    differences = []
    for table in TABLES:
        missing, foreign = (
            _beyond(one, other, table.name) for one, other in ((truth, duck), (duck, truth))
        )
        if missing or foreign:
            differences.append(f"{table.name}: {missing} rows are missing, {foreign} are wrong")
    return differences


def _copies() -> tuple[Duck, Duck] | None:
    """What PostgreSQL has, and what questions are asked of, both of one moment."""
    if settings.CIPHERMARK_ANALYTICS_URL:
        from results.analytics.clickhouse.maintenance import copies

        return copies()
    fetch_snapshot()
    with one_moment(), connection.cursor() as cursor:
        found = read_snapshot(present_state(cursor).epoch)
        if found is None:
            return None
        duck, seen = found
        changes = changes_since(cursor, seen)
        if is_too_much(changes):
            return None
        apply(duck, cursor, changes)
        return filled_copy(cursor), duck


def snapshot_age() -> float | None:
    """Of the newest snapshot, or of what ClickHouse has, in seconds; None where there is none."""
    if settings.CIPHERMARK_ANALYTICS_URL:
        from results.analytics.clickhouse.maintenance import age

        return age()
    found = newest()
    return found[1] if found else None


def snapshot_lag(cursor: CursorWrapper) -> float | None:
    """Age of the oldest change that is not in it; None where there is none."""
    if settings.CIPHERMARK_ANALYTICS_URL:
        from results.analytics.clickhouse.maintenance import lag

        return lag(cursor)
    found = newest()
    return oldest_unseen_change(cursor, found[0]) if found else None


def _beyond(one: Duck, other: Duck, table: str) -> int:
    """How many rows of a table one copy has and the other has not."""
    counts = [_counted(duck, table) for duck in (one, other)]
    return sum(max(0, count - counts[1].get(row, 0)) for row, count in counts[0].items())


def _counted(duck: Duck, table: str) -> dict[int, int]:
    """Hash of a row -> how often it is there."""
    statement = f'SELECT hash(t), count(*) FROM "{table}" t GROUP BY ALL'  # noqa: S608 - constants
    return dict(duck.execute(statement).fetchall())
