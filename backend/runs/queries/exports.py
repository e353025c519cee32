"""Measurements and tries as files: one statement, streamed from the database's own COPY.

Text of users is a parameter or a value of the tables; the statement itself is made of the closed
lists of `exports.columns` and `runs.queries.selection`.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.db import connection, transaction

from exports.columns import StoredColumn
from runs.models import ReferenceProfile
from runs.models.environment import DIMENSIONS
from runs.queries.machine_results import Relation, machine_results
from runs.queries.selection import COUNTED, ComparisonQuery, Where, add_filter
from runs.queries.statements import LATEST_FIRST, fetch_rows
from runs.rollups import without_rollups

CHUNK_BYTES = 64 * 1024

_HEADER = 19
"""Bytes before the first row of a binary COPY: signature, flags, length of the extension."""

_NUMBER, _TEXT = 6, 14
"""Where, in a message, the number of rows and their text begin."""

SERIES_FIELDS = (
    "tool",
    "cipher",
    "block_size",
    "operation",
    "threads",
    "mac",
    "compression",
    "method",
    "target_kind",
    "acceleration",
)
"""Columns of the series that an export may be narrowed by; "mac" is the one asked for."""


@dataclass(frozen=True)
class Selection:
    """Which measurements a file has; nothing given means all of runs that count.

    `text`: of runs whose host's name has it, or whose id begins so.
    `series` are allowed values by field of `SERIES_FIELDS`. `mac` was asked for or negotiated.
    `votes`: of each cipher of a host in an environment only the latest plausible figure, which is
    the one that votes in comparisons.
    """

    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    runs: tuple[UUID, ...] = ()
    statuses: tuple[str, ...] = ()
    text: str = ""
    series: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    mac: str | None = None
    votes: bool = False


def votes_of(query: ComparisonQuery) -> Selection:
    """The figures that vote in this comparison, whose block size is decided."""
    series: dict[str, tuple[Any, ...]] = {
        "tool": (query.tool,),
        "cipher": query.ciphers,
        "acceleration": (query.acceleration,),
    }
    if query.tool == "openssl":
        names: tuple[str, ...] = ("operation", "threads", "block_size")
    else:
        names = ("method", "compression", "target_kind")
        series["mac"] = ("",) if query.mac is None else ()
    for name in names:
        value = getattr(query, name)
        series[name] = () if value is None else (value,)
    return Selection(
        filters=query.filters,
        since=query.since,
        until=query.until,
        series=series,
        mac=query.mac if query.tool == "ssh" else None,
        votes=True,
    )


@dataclass(frozen=True)
class Origin:
    """Where the figures come from: the site's address without a slash, and what divides them."""

    site: str
    profile: ReferenceProfile | None

    @property
    def named(self) -> list[Any]:
        """The values of `v`, in the order of its columns."""
        profile = self.profile
        return [self.site, *((profile.name, profile.pk) if profile else (None, None))]


class RowFormat(Protocol):
    """How SQL writes a row (`runs.queries.export_formats`)."""

    def groups(self, columns: Sequence[StoredColumn]) -> list[tuple[str, str]]:
        """Level and text expression of each part of a row; neighbours of one level are one."""

    def row(self, parts: Sequence[str]) -> str:
        """The row made of these parts, as one text."""


@dataclass(frozen=True)
class Statement:
    """SQL with its parameters."""

    text: str
    parameters: list[Any]


DIMENSION_JOINS = "\n".join(
    f"LEFT JOIN runs_dimensionvalue {name} ON {name}.id = e.{name}_id" for name in DIMENSIONS
)

INDEX_JOINS = """
LEFT JOIN runs_runspeedindex ssh
    ON ssh.run_id = r.id AND ssh.tool = 'ssh' AND ssh.profile_id = v.profile_id
LEFT JOIN runs_runspeedindex openssl_index
    ON openssl_index.run_id = r.id AND openssl_index.tool = 'openssl'
    AND openssl_index.profile_id = v.profile_id
"""


_NOTHING: Mapping[str, Sequence[str]] = {"run": (), "series": ()}


def _run_conditions(selection: Selection) -> Where:
    where = Where([COUNTED], [])
    for name, values in selection.filters.items():
        if values:
            add_filter(where, name, values, table="r")
    if selection.since is not None:
        where.add("r.started_at >= %s", selection.since)
    if selection.until is not None:
        where.add("r.started_at <= %s", selection.until)
    if selection.runs:
        where.add("r.run_id = ANY(%s)", list(selection.runs))
    if selection.statuses:
        where.add("r.status = ANY(%s)", list(selection.statuses))
    if selection.text:
        literal = re.sub(r"([\\%_])", r"\\\1", selection.text)
        where.add(
            "(r.host_name ILIKE %s OR r.run_id::text LIKE %s"
            " OR r.host_id IN (SELECT id FROM runs_host WHERE name ILIKE %s))",
            f"%{literal}%",
            f"{literal.lower()}%",
            f"%{literal}%",
        )
    return where


def _series_conditions(selection: Selection) -> Where:
    where = Where(["true"], [])
    for name in SERIES_FIELDS:
        if selection.series.get(name):
            where.add(f"s.{name} = ANY(%s)", list(selection.series[name]))
    return where


def _mac_condition(selection: Selection) -> Where:
    where = Where(["true"], [])
    if selection.mac is not None:
        where.add("(s.mac = %s OR n.mac = %s)", selection.mac, selection.mac)
    return where


def _result_conditions(selection: Selection) -> Where:
    where = _mac_condition(selection)
    if selection.votes:
        where.add("(m.run_id, m.series_id) IN (SELECT run_id, series_id FROM votes)")
    return where


def _votes(selection: Selection) -> Statement:
    """Run and series of each vote: of the latest run of a host in an environment."""
    run, series = _run_conditions(selection), _series_conditions(selection)
    mac = _mac_condition(selection)
    wanted = f"ARRAY(SELECT s.id FROM runs_series s WHERE {series.text})"  # noqa: S608
    results = machine_results(Relation(wanted, tuple(series.parameters)), selection.until)
    text = f"""
        SELECT DISTINCT ON (k.host_id, k.environment_id, s.cipher) l.run_id, l.series_id
        FROM {results.sql}
        JOIN runs_series s ON s.id = l.series_id
        JOIN runs_machine k ON k.id = l.machine_id
        JOIN runs_run r ON r.id = l.run_id
        JOIN runs_environment e ON e.id = r.environment_id
        LEFT JOIN runs_negotiated n ON n.id = l.negotiated_id
        WHERE {run.text} AND {series.text} AND {mac.text}
        ORDER BY k.host_id, k.environment_id, s.cipher,
            {LATEST_FIRST}, s.pinned, s.target_name, l.series_id
    """  # noqa: S608 - closed lists
    parameters = [*results.parameters, *run.parameters, *series.parameters, *mac.parameters]
    return Statement(text, parameters)


_SERIES = """
JOIN chosen_series s ON s.id = m.series_id
LEFT JOIN runs_negotiated n ON n.id = m.negotiated_id
"""

_OF_RUNS = """
SELECT g.rows, g.text FROM chosen_runs r CROSS JOIN LATERAL (
    SELECT count(*)::int AS rows, string_agg({row}, '' ORDER BY m.series_id) AS text
    FROM runs_measurement m {series}
    WHERE m.run_id = r.id AND {where}
) g WHERE g.rows > 0
"""
"""Rows of measurements, those of one run as one text: by the key's index, the first at once.

In single rows PostgreSQL and Python would spend most of the time on handing them over.
"""

_OF_TRIES = """
SELECT g.rows, g.text FROM chosen_runs r
CROSS JOIN LATERAL (
    SELECT m.*, one.body
    FROM runs_rundocument d
    CROSS JOIN json_array_elements(
        ltrim(convert_from(d.body, 'UTF8'), U&'\\FEFF')::json -> 'measurements'
    ) WITH ORDINALITY one(body, place)
    JOIN runs_measurement m ON m.run_id = d.run_id AND m.position = one.place - 1
    WHERE d.run_id = r.id ORDER BY m.series_id
) m
{series}
CROSS JOIN LATERAL (
    SELECT count(*)::int AS rows, string_agg({row}, '' ORDER BY t.number) AS text
    FROM json_array_elements(m.body -> 'samples') WITH ORDINALITY t(body, number)
) g WHERE {where} AND g.rows > 0
"""
"""Rows of tries, those of one measurement as one text; each document is read once."""


def _runs(selection: Selection, origin: Origin, expressions: Sequence[str]) -> Statement:
    """The runs, latest received first, with these expressions as c0, c1, ..."""
    where = _run_conditions(selection)
    if selection.votes:
        where.add("r.id IN (SELECT run_id FROM votes)")
    made = "".join(f", {expression} AS c{number}" for number, expression in enumerate(expressions))
    text = f"""
        SELECT r.id, ssh.index AS ssh_index, openssl_index.index AS openssl_index{made}
        FROM (SELECT %s::text AS site, %s::text AS profile, %s::bigint AS profile_id) v
        CROSS JOIN runs_run r
        JOIN runs_host h ON h.id = r.host_id
        JOIN runs_environment e ON e.id = r.environment_id
        {DIMENSION_JOINS} {INDEX_JOINS}
        WHERE {where.text} ORDER BY r.id DESC
    """  # noqa: S608 - closed lists
    return Statement(text, [*origin.named, *where.parameters])


def _series(selection: Selection, expressions: Sequence[str]) -> Statement:
    where = _series_conditions(selection)
    made = "".join(f", {expression} AS c{number}" for number, expression in enumerate(expressions))
    text = f"SELECT s.id, s.tool, s.mac{made} FROM runs_series s WHERE {where.text}"  # noqa: S608
    return Statement(text, where.parameters)


def rows_statement(
    selection: Selection,
    origin: Origin,
    columns: Sequence[StoredColumn],
    form: RowFormat,
    *,
    tries: bool = False,
) -> Statement:
    """Rows of measurements (or tries) as texts of several, each with their number.

    What depends on the run or the series alone is made once for each of them.
    """
    made: dict[str, list[str]] = {"run": [], "series": []}
    values = []
    for level, expression in form.groups(columns):
        if level in made:
            values.append(f"{level[0]}.c{len(made[level])}")
            made[level].append(expression)
        else:
            values.append(expression)
    parts = _parts(selection, origin, made)
    where = _result_conditions(selection)
    rows = (_OF_TRIES if tries else _OF_RUNS).format(
        row=form.row(values), series=_SERIES, where=where.text
    )
    named = ", ".join(f"{name} AS MATERIALIZED ({part.text})" for name, part in parts)
    parameters = [one for _, part in parts for one in part.parameters]
    return Statement(f"WITH {named} {rows}", parameters + where.parameters)


def _parts(
    selection: Selection, origin: Origin, made: Mapping[str, Sequence[str]]
) -> list[tuple[str, Statement]]:
    parts = [
        ("chosen_runs", _runs(selection, origin, made["run"])),
        ("chosen_series", _series(selection, made["series"])),
    ]
    if selection.votes:
        parts.insert(0, ("votes", _votes(selection)))
    return parts


def count_rows(selection: Selection, *, tries: bool = False, most: int | None = None) -> int:
    """How many measurements (or tries) a file would have; counting ends beyond `most`."""
    parts = _parts(selection, Origin("", None), _NOTHING)
    where = _result_conditions(selection)
    limit = "" if most is None else f"LIMIT {most + 1:d}"
    text = f"""
        WITH {", ".join(f"{name} AS MATERIALIZED ({part.text})" for name, part in parts)}
        SELECT coalesce(sum(n), 0) FROM (
            SELECT {"m.n" if tries else "1"} AS n FROM chosen_runs r
            JOIN runs_measurement m ON m.run_id = r.id
            JOIN chosen_series s ON s.id = m.series_id
            LEFT JOIN runs_negotiated n ON n.id = m.negotiated_id
            WHERE {where.text} {limit}
        ) counted
    """  # noqa: S608 - closed lists
    parameters = [one for _, part in parts for one in part.parameters]
    return int(fetch_rows(text, parameters + where.parameters)[0][0])


def copy_out(statement: Statement) -> Generator[tuple[bytes, int]]:
    """The rows in chunks of about 64 kB or one run, each with the number of rows in it.

    Binary, because only that leaves text as it is. The server sends a message for each row of
    the statement: two fields, the number of rows of the file and their text, each after its
    length; the last message says that no more come.
    """
    command = f"COPY ({statement.text}) TO STDOUT WITH (FORMAT binary)"
    buffer, rows, start = bytearray(), 0, _HEADER
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
            rows += int.from_bytes(message[start + _NUMBER : start + _NUMBER + 4])
            buffer += message[start + _TEXT :]
            start = 0
            if len(buffer) >= CHUNK_BYTES:
                yield bytes(buffer), rows
                buffer, rows = bytearray(), 0
    if rows:
        yield bytes(buffer), rows


def machine_rows(
    selection: Selection, origin: Origin, columns: Sequence[StoredColumn]
) -> list[tuple[Any, ...]]:
    """The machines whose figures a file has, with the facts of their latest run among them."""
    parts = [part for part in _parts(selection, origin, _NOTHING) if part[0] != "chosen_runs"]
    where, mac = _run_conditions(selection), _result_conditions(selection)
    text = f"""
        WITH {", ".join(f"{name} AS MATERIALIZED ({part.text})" for name, part in parts)},
        g AS MATERIALIZED (
            SELECT (array_agg(r.id ORDER BY {LATEST_FIRST}))[1] AS latest,
                count(*) AS runs, max(r.started_at) AS last
            FROM runs_run r JOIN runs_environment e ON e.id = r.environment_id
            WHERE {where.text} AND EXISTS (
                SELECT FROM runs_measurement m
                JOIN chosen_series s ON s.id = m.series_id
                LEFT JOIN runs_negotiated n ON n.id = m.negotiated_id
                WHERE m.run_id = r.id AND {mac.text}
            ) GROUP BY r.host_id, r.environment_id
        )
        SELECT {", ".join(column.sql for column in columns)}
        FROM (SELECT %s::text AS site, %s::text AS profile, %s::bigint AS profile_id) v
        CROSS JOIN g JOIN runs_run r ON r.id = g.latest
        JOIN runs_host h ON h.id = r.host_id
        JOIN runs_environment e ON e.id = r.environment_id
        {DIMENSION_JOINS} {INDEX_JOINS} ORDER BY h.name, h.id, r.id
    """  # noqa: S608 - closed lists
    parameters = [one for _, part in parts for one in part.parameters]
    return fetch_rows(text, parameters + where.parameters + mac.parameters + origin.named)


@contextmanager
def one_moment() -> Iterator[None]:
    """All that is read here is of one moment, whatever is stored meanwhile.

    Comparisons are made from the figures themselves: where nothing is written, nothing is kept.
    """
    if connection.in_atomic_block:  # whoever began this transaction has chosen its view already
        yield
        return
    with transaction.atomic(), without_rollups():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def machine_names(
    machines: Iterable[tuple[int, int]], facts: Sequence[str]
) -> dict[tuple[int, int], tuple[str, ...]]:
    """Of each host in an environment, by their ids: the host's name, and labels of `facts`."""
    pairs = list(machines)
    labels = ", ".join(f"{name}.label" for name in facts)
    text = f"""
        SELECT h.id, e.id, h.name, {labels}
        FROM unnest(%s::bigint[], %s::bigint[]) pair(host, environment)
        JOIN runs_host h ON h.id = pair.host
        JOIN runs_environment e ON e.id = pair.environment {DIMENSION_JOINS}
    """  # noqa: S608 - closed lists
    rows = fetch_rows(text, [[host for host, _ in pairs], [one for _, one in pairs]])
    return {(host, environment): tuple(names) for host, environment, *names in rows}
