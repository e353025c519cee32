"""Measurements and hosts as rows of files: one statement of runs, series and results.

The statement is made of the closed lists of `exports.columns`; what users sent is a parameter.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from django.db import connection, transaction

from exports.columns import Level, StoredColumn
from exports.csv_dialect import CsvDialect
from reports.csv_lines import CsvLines
from reports.export_selection import (
    Selection,
    result_conditions,
    run_conditions,
    series_conditions,
)
from results.selection import Where, dimension_value
from store.models.dimension import DIMENSIONS, OF_LIBRARIES
from store.models.run import COUNTED
from store.statements import LATEST_FIRST, Relation, fetch_rows

DIMENSION_JOINS = "\n".join(
    f"LEFT JOIN runs_dimensionvalue {name} ON {name}.id = {value}"
    for name, value in (
        *((name, dimension_value(name, "openssl")) for name in DIMENSIONS),
        *((of_ssh, dimension_value(name, "ssh")) for name, of_ssh in OF_LIBRARIES.items()),
    )
)
"""Every dimension's value by the name of the dimension, and ssh's own library by its name."""

LIBRARY_COLUMNS = ", ".join(f"e.{name}_id" for pair in OF_LIBRARIES.items() for name in pair)
"""Of a run: what its figures are filtered by, by their tools."""

INDEX_JOINS = """
LEFT JOIN runs_runspeedindex ssh ON ssh.run_id = r.id AND ssh.tool = 'ssh'
LEFT JOIN runs_runspeedindex openssl_index
    ON openssl_index.run_id = r.id AND openssl_index.tool = 'openssl'
"""

_NOTHING: Mapping[str, Sequence[str]] = {"run": (), "series": ()}

_SERIES = """
JOIN chosen_series s ON s.id = m.series_id
LEFT JOIN runs_negotiated n ON n.id = m.negotiated_id
"""

_LINES = """
SELECT g.text FROM chosen_runs r CROSS JOIN LATERAL (
    SELECT string_agg({row}, '' ORDER BY m.series_id) AS text
    FROM runs_measurement m {series}
    WHERE m.run_id = r.id AND {where}
) g WHERE g.text IS NOT NULL
"""
"""Lines of measurements, those of one run as one text: by the key's index, the first at once.

In single rows PostgreSQL and Python would spend most of the time on handing them over.
"""

_VALUES = """
SELECT {row} FROM chosen_runs r JOIN runs_measurement m ON m.run_id = r.id {series}
WHERE {where} ORDER BY r.id DESC, m.series_id
"""


def chosen_runs(selection: Selection, site: str, expressions: Sequence[str]) -> Relation:
    """The runs, latest received first, with these expressions as c0, c1, ...

    Of votes each run has the numbers of its series that vote, `voted`.
    """
    where, votes, voted = run_conditions(selection), "", ""
    if selection.voting is not None:
        where, votes = Where([COUNTED], []), "JOIN votes ON votes.run_id = r.id"
        voted = ", votes.series AS voted"
    made = "".join(f", {expression} AS c{number}" for number, expression in enumerate(expressions))
    sql = f"""
        SELECT r.id, ssh.index AS ssh_index, openssl_index.index AS openssl_index,
            {LIBRARY_COLUMNS}{voted}{made}
        FROM (SELECT %s::text AS site) v
        CROSS JOIN runs_run r {votes}
        JOIN runs_host h ON h.id = r.host_id
        JOIN runs_environment e ON e.id = r.environment_id
        {DIMENSION_JOINS} {INDEX_JOINS}
        WHERE {where.text} ORDER BY r.id DESC
    """  # noqa: S608 - closed lists
    return Relation(sql, (site, *where.parameters))


def _series(selection: Selection, expressions: Sequence[str]) -> Relation:
    where = series_conditions(selection)
    made = "".join(f", {expression} AS c{number}" for number, expression in enumerate(expressions))
    sql = f"SELECT s.id, s.tool, s.mac{made} FROM runs_series s WHERE {where.text}"  # noqa: S608
    return Relation(sql, tuple(where.parameters))


def _results(selection: Selection) -> Where:
    """Which measurements of a chosen run; what votes has been decided with its run."""
    if selection.voting is not None:
        return Where(["m.series_id = ANY(r.voted)"], [])
    return result_conditions(selection, "r")


def _values(
    parts: Sequence[tuple[Level, str]], of_ssh: Sequence[tuple[Level, str]]
) -> tuple[list[str], dict[str, list[str]]]:
    """The parts of a row; and by level the expressions that are made once and that they name.

    A part of the run that depends on the tool is made for both, not for each row.
    """
    made: dict[str, list[str]] = {"run": [], "series": []}

    def named(level: str, expression: str) -> str:
        if level not in made:
            return expression
        made[level].append(expression)
        return f"{level[0]}.c{len(made[level]) - 1}"

    values = []
    for (level, own), (_, ssh) in zip(parts, of_ssh, strict=True):
        value = named(level, own)
        if ssh != own:
            value = f"CASE s.tool WHEN 'ssh' THEN {named(level, ssh)} ELSE {value} END"
        values.append(value)
    return values, made


def _statement(
    selection: Selection, site: str, made: Mapping[str, Sequence[str]], rows: str, row: str
) -> Relation:
    """The rows; what depends on the run or the series alone is made once for each of them."""
    parts, where = chosen_parts(selection, site, made), _results(selection)
    sql = rows.format(row=row, series=_SERIES, where=where.text)
    return Relation(f"{parts.sql} {sql}", (*parts.parameters, *where.parameters))


def csv_rows(
    selection: Selection, site: str, columns: Sequence[StoredColumn], dialect: CsvDialect
) -> Generator[bytes]:
    """Measurements as lines of CSV, in chunks of about 64 kB or one run."""
    lines = CsvLines(dialect)
    of_ssh = lines.parts([column.of_ssh for column in columns])
    values, made = _values(lines.parts(columns), of_ssh)
    yield from _copied(_statement(selection, site, made, _LINES, lines.line(values)))


def value_rows(
    selection: Selection, site: str, columns: Sequence[StoredColumn]
) -> Iterator[tuple[Any, ...]]:
    """Measurements as values, read by a cursor of the server; within a transaction."""
    values, made = _values(
        [(column.level, column.sql) for column in columns],
        [(column.level, column.of_ssh.sql) for column in columns],
    )
    statement = _statement(selection, site, made, _VALUES, ", ".join(values))
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement.sql, statement.parameters)
        while rows := cursor.fetchmany(FETCHED_ROWS):
            yield from rows


def chosen_parts(
    selection: Selection, site: str, made: Mapping[str, Sequence[str]] = _NOTHING
) -> Relation:
    """WITH `votes`, where only those are wanted, `chosen_runs` and `chosen_series`."""
    parts = [
        ("chosen_runs", chosen_runs(selection, site, made["run"])),
        ("chosen_series", _series(selection, made["series"])),
    ]
    if selection.voting is not None:
        parts.insert(0, ("votes", selection.voting.by_run))
    named = ", ".join(f"{name} AS MATERIALIZED ({part.sql})" for name, part in parts)
    return Relation(f"WITH {named}", tuple(one for _, part in parts for one in part.parameters))


def count_rows(selection: Selection, most: int | None = None) -> int:
    """How many measurements a file would have; counting ends beyond `most`."""
    if selection.voting is not None:
        return len(selection.voting.runs)
    parts, where = chosen_parts(selection, ""), _results(selection)
    limit = "" if most is None else f"LIMIT {most + 1:d}"
    sql = f"""
        {parts.sql}
        SELECT count(*) FROM (
            SELECT 1 FROM chosen_runs r
            JOIN runs_measurement m ON m.run_id = r.id {_SERIES}
            WHERE {where.text} {limit}
        ) counted
    """  # noqa: S608 - closed lists
    return int(fetch_rows(sql, (*parts.parameters, *where.parameters))[0][0])


CHUNK_BYTES = 64 * 1024

FETCHED_ROWS = 1_000

_HEADER = 19
"""Bytes before the first row of a binary COPY: signature, flags, length of the extension."""

_TEXT = 6
"""Where, in a message, the text begins: after the number of fields and its length."""


def _copied(statement: Relation) -> Generator[bytes]:
    """The texts that a statement gives, in chunks.

    Binary, because only that leaves text as it is. The server sends a message for each row of
    the statement; the last message says that no more come.
    """
    command = f"COPY ({statement.sql}) TO STDOUT WITH (FORMAT binary)"
    buffer, start = bytearray(), _HEADER
    # A COPY that is broken off fails; a transaction around it must be able to go on.
    around = transaction.atomic() if connection.in_atomic_block else nullcontext()
    with (
        around,
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(command, statement.parameters) as copy,
    ):
        for message in copy:
            if len(message) < _TEXT:  # the end; what follows it ends the command
                continue
            buffer += message[start + _TEXT :]
            start = 0
            if len(buffer) >= CHUNK_BYTES:
                yield bytes(buffer)
                buffer.clear()
    if buffer:
        yield bytes(buffer)


def host_rows(
    selection: Selection, site: str, columns: Sequence[StoredColumn]
) -> list[tuple[Any, ...]]:
    """The hosts whose figures a file has, with the facts of their latest run among them."""
    runs = _runs_with_figures(selection)
    sql = f"""
        WITH {runs.sql},
        g AS MATERIALIZED (
            SELECT (array_agg(r.id ORDER BY {LATEST_FIRST}))[1] AS latest,
                count(*) AS runs, max(r.started_at) AS last
            FROM with_figures JOIN runs_run r ON r.id = with_figures.run_id
            GROUP BY r.host_id
        )
        SELECT {", ".join(column.sql for column in columns)}
        FROM (SELECT %s::text AS site) v
        CROSS JOIN g JOIN runs_run r ON r.id = g.latest
        JOIN runs_host h ON h.id = r.host_id
        JOIN runs_environment e ON e.id = r.environment_id
        {DIMENSION_JOINS} {INDEX_JOINS} ORDER BY h.name, h.id, r.id
    """  # noqa: S608 - closed lists
    return fetch_rows(sql, (*runs.parameters, site))


def _runs_with_figures(selection: Selection) -> Relation:
    """`with_figures` (run_id): the runs that the file has a figure of."""
    if selection.voting is not None:
        votes = selection.voting.by_run
        return Relation(f"with_figures AS MATERIALIZED ({votes.sql})", votes.parameters)
    runs, series = run_conditions(selection), series_conditions(selection)
    results = result_conditions(selection, "e")
    sql = f"""
        chosen_series AS MATERIALIZED (
            SELECT s.id, s.mac, s.tool FROM runs_series s WHERE {series.text}
        ),
        with_figures AS MATERIALIZED (
            SELECT r.id AS run_id
            FROM runs_run r JOIN runs_environment e ON e.id = r.environment_id
            WHERE {runs.text} AND (
                SELECT true FROM runs_measurement m
                JOIN chosen_series s ON s.id = m.series_id
                LEFT JOIN runs_negotiated n ON n.id = m.negotiated_id
                WHERE m.run_id = r.id AND {results.text} LIMIT 1
            )
        )
    """  # noqa: S608 - closed lists
    return Relation(sql, (*series.parameters, *runs.parameters, *results.parameters))
