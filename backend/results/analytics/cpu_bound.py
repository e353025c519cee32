"""Speed indices from CPU-bound levels, which only the copy has.

They are computed as the stored ones are, by `analysis.profiles.speed_index`: DuckDB's own sums of
logarithms differ from Python's in the last bit.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import duckdb
import orjson
from django.db.backends.utils import CursorWrapper

from analysis.profiles.baselines import FAMILIES
from analysis.profiles.speed_index import speed_index
from results.analytics.tables import CPU_BOUND_INDEX, as_received

_LEVELS = """
SELECT run, tool, family, cpu_bound_level FROM level WHERE cpu_bound_level IS NOT NULL
"""
_OF_THESE = f"{_LEVELS} AND run IN (SELECT unnest(?::INTEGER[]))"

Row = tuple[int, int, str, float]
"""Run, profile, tool and index."""


def add_indices(
    duck: duckdb.DuckDBPyConnection,
    cursor: CursorWrapper,
    runs: Sequence[int] | None = None,
    profiles: Sequence[int] | None = None,
) -> None:
    """Compute and insert the indices of these runs, under these profiles; None: of all."""
    cursor.execute("SELECT id, levels::text FROM runs_referenceprofile")
    wanted = [
        (profile, orjson.loads(reference))
        for profile, reference in cursor.fetchall()
        if profiles is None or profile in profiles
    ]
    levels: defaultdict[tuple[int, str], dict[str, float]] = defaultdict(dict)
    found = duck.execute(_LEVELS) if runs is None else duck.execute(_OF_THESE, [list(runs)])
    for run, tool, family, level in found.fetchall():
        levels[run, tool][family] = level
    rows = list(_indices(levels.items(), wanted))
    if rows:
        duck.execute(CPU_BOUND_INDEX.insert, as_received(rows))


def _indices(
    levels: Iterable[tuple[tuple[int, str], dict[str, float]]],
    profiles: Iterable[tuple[int, dict[str, dict[str, float]]]],
) -> Iterable[Row]:
    known = list(profiles)
    for (run, tool), of_run in levels:
        ordered = {family: of_run[family] for family in FAMILIES if family in of_run}
        for profile, reference in known:
            speed = speed_index(ordered, reference.get(tool, {}))
            if speed is not None:
                yield run, profile, tool, speed.index
