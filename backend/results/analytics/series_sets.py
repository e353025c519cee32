"""Which series a run has results of: thousands of runs share a few such sets."""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import blake2b

import duckdb
import orjson

from results.analytics.tables import SERIES_OF_SET, SET_OF_RUN, as_received

_NEW_SETS = SERIES_OF_SET.insert_from(
    f"SELECT * FROM ({SERIES_OF_SET.received}) ANTI JOIN {SERIES_OF_SET.name} USING (series_set)"  # noqa: S608
)

Series = tuple[int, int | None]
"""A series, and what was negotiated."""


def add_sets(duck: duckdb.DuckDBPyConnection, results: Sequence[str]) -> None:
    """Store the sets of these runs: `results` are the received columns of `RESULT`."""
    of_run: defaultdict[int, list[Series]] = defaultdict(list)
    runs, series, negotiated = map(orjson.loads, results[:3])
    for run, *one in zip(runs, series, negotiated, strict=True):
        of_run[run].append((one[0], one[1]))
    sets = {run: _key(found) for run, found in of_run.items()}
    new = {sets[run]: found for run, found in of_run.items()}
    if sets:
        rows = [(key, *one) for key, found in new.items() for one in found]
        duck.execute(SET_OF_RUN.insert, as_received(sets.items()))
        duck.execute(_NEW_SETS, as_received(rows))


def _key(series: list[Series]) -> int:
    """A hash of what is in the set: the same in every copy."""
    text = orjson.dumps(sorted((one, other or 0) for one, other in series))
    return int.from_bytes(blake2b(text, digest_size=8).digest())
