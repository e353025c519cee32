"""Speed indices from CPU-bound levels, which only the copy has.

They are computed as the stored ones are, by `analysis.profiles.speed_index`: DuckDB's own sums of
logarithms differ from Python's in the last bit.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import orjson
from django.db.backends.utils import CursorWrapper

from analysis.profiles.baselines import FAMILIES
from analysis.profiles.speed_index import speed_index
from results.analytics.tables import CPU_BOUND_INDEX, as_received

Row = tuple[int, int, str, float]
"""Run, profile, tool and index."""


def add_indices(
    duck: duckdb.DuckDBPyConnection,
    cursor: CursorWrapper,
    levels: Iterable[Sequence[Any]],
    profiles: Sequence[int] | None = None,
) -> None:
    """Compute and insert the indices of these rows of `LEVEL`, under these profiles (None: all)."""
    cursor.execute("SELECT id, levels::text FROM runs_referenceprofile")
    wanted = [
        (profile, orjson.loads(reference))
        for profile, reference in cursor.fetchall()
        if profiles is None or profile in profiles
    ]
    of_runs: defaultdict[tuple[int, str], dict[str, float]] = defaultdict(dict)
    for run, tool, family, _, bound in levels:
        if bound is not None:
            of_runs[run, tool][family] = bound
    rows = list(_indices(of_runs.items(), wanted))
    if rows:
        duck.execute(CPU_BOUND_INDEX.insert, as_received(rows))


def _indices(
    levels: Iterable[tuple[tuple[int, str], dict[str, float]]],
    profiles: Sequence[tuple[int, dict[str, dict[str, float]]]],
) -> Iterable[Row]:
    for (run, tool), of_run in levels:
        ordered = {family: of_run[family] for family in FAMILIES if family in of_run}
        for profile, reference in profiles:
            speed = speed_index(ordered, reference.get(tool, {}))
            if speed is not None:
                yield run, profile, tool, speed.index
