"""What PostgreSQL has committed that a copy has not seen yet.

Triggers write a row of `runs_change` in each transaction that changes what counts. Transactions
do not commit in the order of their numbers, so a copy remembers the snapshot it was read in: what
that snapshot could not see is new.
"""

import json
from dataclasses import dataclass, field

from django.db import connection
from django.db.backends.utils import CursorWrapper

USABLE_SECONDS = 24 * 3600
"""A state that is older cannot be followed: the changes since may have been forgotten."""

_EPOCH = """(
    SELECT concat_ws(
        '-', system_identifier, d.oid, 'runs_change'::regclass::oid,
        substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
    ) FROM pg_control_system(), pg_database d WHERE d.datname = current_database()
)"""
"""Another one in every database, after a restore, which makes the table again, and on another
timeline: after a failover numbers of transactions that were lost are given out again."""

_STATE = f"SELECT {_EPOCH}, pg_current_snapshot()::text"

_UNSEEN = f"""
{_STATE}, (
    SELECT coalesce(json_agg(json_build_array(run_id, has_new_results)), '[]')::text
    FROM runs_change
    WHERE transaction_id >= pg_snapshot_xmin(%(seen)s::pg_snapshot)
        AND NOT pg_visible_in_snapshot(transaction_id, %(seen)s::pg_snapshot)
)
"""  # noqa: S608 - constants


@dataclass(frozen=True)
class State:
    """A moment of a database: which one it is, and what could be seen of it then."""

    epoch: str
    snapshot: str


@dataclass(frozen=True)
class Changes:
    """What is new since a copy's state: keys of runs, or everything.

    `runs` -> whether their results may have changed, and not only what the run says of itself.
    """

    state: State
    runs: dict[int, bool] = field(default_factory=dict)
    everything: bool = False

    def __bool__(self) -> bool:
        return bool(self.runs or self.everything)


def present_state(cursor: CursorWrapper) -> State:
    """The state that the cursor's next statements see, in a transaction of one snapshot."""
    cursor.execute(_STATE)
    return State(*cursor.fetchone())


def changes_since(cursor: CursorWrapper, seen: State) -> Changes:
    """What was committed since; all of it where the database is another one."""
    cursor.execute(_UNSEEN, {"seen": seen.snapshot})
    epoch, snapshot, rows = cursor.fetchone()
    state = State(epoch, snapshot)
    if epoch != seen.epoch:
        return Changes(state, everything=True)
    runs: dict[int, bool] = {}
    everything = False
    for run, has_new_results in json.loads(rows):
        if run is not None:
            runs[run] = runs.get(run, False) or has_new_results
        else:
            everything = True
    return Changes(state, runs, everything)


def forget_old_changes() -> None:
    """Remove what every copy has seen: one that has not been used for a day is built again."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_change WHERE changed_at < now() - interval '2 days'")
