"""8: CSV of a tenth of all measurements, against COPY of the same columns."""

import time
from statistics import median

import psycopg

from tests.bench.bars.exported import NOT_BUILT, SELECT, Download, address, download, is_built
from tests.bench.figures import Figure, Pair, at_least, below, missing
from tests.bench.fleet.copying import dsn
from tests.bench.fleet.size import Size
from tests.bench.timing import chosen

ROUNDS = 3
SHARE = 0.8
FIRST_BYTE_MS = 250.0
GROWN_MB = 30.0
SITE = "s3"
NAME = "8 CSV, 15 columns"


def figures(_size: Size) -> list[Figure]:
    """Rows a second, the first byte, and how much the server's process grows."""
    path = address("csv", {"tag": f"site:{SITE}"})
    if not is_built("csv"):
        return [missing(NAME, f">= {SHARE:g} x", NOT_BUILT)]
    rounds = [(download(path), _copy()) for _ in range(min(ROUNDS, chosen.effort.rounds))]
    return _figures([one for one, _ in rounds], [floor for _, floor in rounds])


def _figures(downloads: list[Download], floors: list[float]) -> list[Figure]:
    rates = [(one.body.count(b"\n") - 1) / one.seconds for one in downloads]
    first = median(one.first_seconds for one in downloads) * 1000
    grown = max(one.grown_mb for one in downloads)
    return [
        at_least(NAME, "rows/s", Pair.of(rates, floors), SHARE),
        below("8 CSV, first byte", "ms", first, FIRST_BYTE_MS),
        below("8 CSV, growth of the process", "MB", grown, GROWN_MB),
    ]


def _copy() -> float:
    """Rows a second of the plain statement's COPY, read and thrown away."""
    statement = f"COPY ({SELECT} AND r.tags ->> 'site' = '{SITE}') TO STDOUT (FORMAT csv)"
    with psycopg.connect(dsn()) as raw, raw.cursor() as cursor:
        begun = time.perf_counter()
        with cursor.copy(statement.encode()) as copy:
            for _ in copy:
                pass
        return cursor.rowcount / (time.perf_counter() - begun)
