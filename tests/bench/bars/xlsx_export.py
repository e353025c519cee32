"""9: XLSX of at most 100,000 measurements, against XlsxWriter alone."""

import io
import tempfile
import time
import zipfile
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import psycopg
import xlsxwriter

from tests.bench.bars.exported import (
    COLUMNS,
    NOT_BUILT,
    SELECT,
    Download,
    address,
    download,
    is_built,
)
from tests.bench.figures import Figure, Pair, at_least, below, missing
from tests.bench.fleet.copying import dsn
from tests.bench.fleet.size import Size
from tests.bench.timing import chosen

ROUNDS = 3
SHARE = 1.0
GROWN_MB = 30.0
SOURCE = "published"
MOST_RUNS = 800
"""Of about 120 measurements: a workbook of more than 100,000 rows is not made while one waits."""

NAME = "9 XLSX, 15 columns"


def figures(_size: Size) -> list[Figure]:
    """Rows a second, and how much the server's process grows.

    The floor has its rows as Python values before its time begins.
    """
    if not is_built("xlsx"):
        return [missing(NAME, f">= {SHARE:g} x", NOT_BUILT)]
    since = _since()
    path = address("xlsx", {"source": SOURCE, "since": since.isoformat()})
    rows = _rows(since)
    rounds = [(download(path), _write(rows)) for _ in range(min(ROUNDS, chosen.effort.rounds))]
    downloads = [one for one, _ in rounds]
    rates = [_sheet_rows(one) / one.seconds for one in downloads]
    pair = Pair.of(rates, [floor for _, floor in rounds])
    grown = max(one.grown_mb for one in downloads)
    return [
        at_least(NAME, "rows/s", pair, SHARE),
        below("9 XLSX, growth of the process", "MB", grown, GROWN_MB),
    ]


def _since() -> datetime:
    """The start of the first of the latest runs that go into the file."""
    statement = """
        SELECT min(started_at) FROM (
            SELECT started_at FROM runs_run
            WHERE status = 'ready' AND NOT hidden AND source = %s AND started_at IS NOT NULL
            ORDER BY started_at DESC LIMIT %s
        ) latest
    """
    with psycopg.connect(dsn()) as raw:
        (since,) = raw.execute(statement, [SOURCE, MOST_RUNS]).fetchall()[0]
    moment: datetime = since
    return moment


def _rows(since: datetime) -> list[tuple[Any, ...]]:
    statement = f"{SELECT} AND r.source = '{SOURCE}' AND r.started_at >= %s"
    with psycopg.connect(dsn()) as raw:
        found = raw.execute(statement.encode(), [since]).fetchall()
    return [tuple(map(_writable, row)) for row in found]


def _writable(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return value if isinstance(value, (int, float, str, type(None))) else str(value)


def _write(rows: Sequence[Sequence[Any]]) -> float:
    """Rows a second of XlsxWriter as its manual recommends it for much data."""
    with tempfile.NamedTemporaryFile(suffix=".xlsx") as file:
        begun = time.perf_counter()
        book = xlsxwriter.Workbook(file.name, {"constant_memory": True})
        day = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        sheet = book.add_worksheet("Measurements")
        sheet.write_row(0, 0, list(COLUMNS))
        moment = list(COLUMNS).index("started_at")
        for number, row in enumerate(rows, 1):
            sheet.write_row(number, 0, row)
            if row[moment] is not None:
                sheet.write_datetime(number, moment, row[moment], day)
        book.close()
        return len(rows) / (time.perf_counter() - begun)


def _sheet_rows(file: Download) -> int:
    """Rows of the largest sheet, without its header."""
    with zipfile.ZipFile(io.BytesIO(file.body)) as archive:
        sheets = [one for one in archive.infolist() if one.filename.startswith("xl/worksheets/")]
        largest = max(sheets, key=lambda one: one.file_size)
        return archive.read(largest).count(b"<row") - 1
