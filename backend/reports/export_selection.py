"""Which measurements a file has, as SQL; which of them vote, by the analytics copy.

Text of users is a parameter; the statements themselves are made of the closed lists of
`results.selection`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from compare.question import TOOLS, ComparisonQuery
from results.analytics.ask import Ask
from results.analytics.engine import questions
from results.comparison.measured import measured, resolve_block_size
from results.comparison.votes import votes_statement
from results.figures import LATEST, SeriesTable, Slot, Statement, results_statement
from results.selection import OF_ROW, Where, add_filter, dimension_value, ids_of
from store.models.dimension import OF_LIBRARIES
from store.models.run import COUNTED
from store.statements import Relation, array, fetch_rows

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

SERIES_OF_TOOL = {
    "openssl": ("operation", "threads", "block_size"),
    "ssh": ("method", "compression", "target_kind"),
}
"""Those of them that figures of one tool alone have, without the MAC of ssh."""


@dataclass(frozen=True)
class Voting:
    """Keys of the results that vote: a run and a series of each."""

    runs: tuple[int, ...]
    series: tuple[int, ...]

    @property
    def by_run(self) -> Relation:
        """run_id, series: of each run the numbers of its series that vote."""
        sql = """
            SELECT run_id, array_agg(series_id) AS series
            FROM unnest(%s::int[], %s::int[]) AS keys (run_id, series_id) GROUP BY run_id
        """
        return Relation(sql, (array(self.runs), array(self.series)))


@dataclass(frozen=True)
class Selection:
    """Which measurements a file has; nothing given means all of runs that count.

    `text`: of runs whose host's name has it, or whose id begins so.
    `series` are allowed values by field of `SERIES_FIELDS`. `mac` was asked for or negotiated.
    `latest`: only what votes in comparisons, which is found before rows are read (`voting`).
    """

    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    runs: tuple[UUID, ...] = ()
    statuses: tuple[str, ...] = ()
    text: str = ""
    series: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    mac: str | None = None
    latest: bool = False
    voting: Voting | None = None


def votes_of(query: ComparisonQuery) -> Selection:
    """The figures that vote in this comparison, whose block size is decided."""
    series: dict[str, tuple[Any, ...]] = {
        "tool": (query.tool,),
        "cipher": query.ciphers,
        "acceleration": (query.acceleration,),
    }
    if query.tool == "ssh":
        series["mac"] = ("",) if query.mac is None else ()
    for name in SERIES_OF_TOOL[query.tool]:
        value = getattr(query, name)
        series[name] = () if value is None else (value,)
    return Selection(
        filters=query.filters,
        since=query.since,
        until=query.until,
        series=series,
        mac=query.mac if query.tool == "ssh" else None,
        latest=True,
    )


def run_conditions(selection: Selection) -> Where:
    """Conditions on runs (r) and environments (e).

    A run that one tool's library lets through may have figures of the other, which
    `result_conditions` leave out.
    """
    where = Where([COUNTED], [])
    for name, values in selection.filters.items():
        if values:
            add_filter(where, name, values)
    if selection.since is not None:
        where.add("r.started_at >= %s", selection.since)
    if selection.until is not None:
        where.add("r.started_at <= %s", selection.until)
    _add_named(where, selection)
    return where


def _add_named(where: Where, selection: Selection) -> None:
    """Conditions that name runs (r) themselves."""
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


def series_conditions(selection: Selection) -> Where:
    """Conditions on series (s)."""
    where = Where(["true"], [])
    for name in SERIES_FIELDS:
        if selection.series.get(name):
            where.add(f"s.{name} = ANY(%s)", list(selection.series[name]))
    return where


def result_conditions(selection: Selection, environments: str) -> Where:
    """Conditions on a measurement's series (s) and on what was negotiated (n).

    And on its library: `environments` is the table that has the ids of an environment's values.
    """
    where = Where(["true"], [])
    for name in OF_LIBRARIES:
        if selection.filters.get(name):
            value = dimension_value(name, OF_ROW, environments)
            where.add(f"{value} = ANY(%s)", ids_of(name, selection.filters[name]))
    if selection.mac is not None:
        where.add("(s.mac = %s OR n.mac = %s)", selection.mac, selection.mac)
    return where


_VOTES = "SELECT run, list(series) FROM latest WHERE {groups} GROUP BY run"
_NAMED = "SELECT r.* FROM ({runs}) r WHERE r.id IN (SELECT unnest($named::INTEGER[]))"


def voting(selection: Selection, asked: ComparisonQuery, groups: list[Any] | None) -> Voting:
    """What votes in a comparison with the groups of `asked`: of a host in a group its latest.

    There a vote is one of a cipher, because the query decides all else about its series; here
    whatever is left open makes series that vote beside each other. `groups`: in these alone, ids
    or texts. Of a matched comparison only its hosts and ciphers vote.
    """
    runs: list[int] = []
    series: list[int] = []
    named = _named_runs(selection)
    tables = _series_tables(selection)
    if asked.matched:
        asked = resolve_block_size(asked)
        tables = {tool: table for tool, table in tables.items() if tool == asked.tool}
    with questions() as ask:
        for tool, table in tables.items():
            query = ComparisonQuery(
                tool=tool,
                group_by=asked.group_by,
                split_by=asked.split_by,
                mac=selection.mac,
                filters=selection.filters,
                since=selection.since,
                until=selection.until,
            )
            statement = results_statement(query, table)
            statement.ctes["latest"] = LATEST
            if named is not None:
                statement.ctes["runs"] = _NAMED.format(runs=statement.ctes["runs"])
                statement.parameters["named"] = named
            condition = "true"
            if groups is not None:
                condition = "list_contains($groups, g)"
                statement.parameters["groups"] = groups
            if asked.matched:
                condition += f" AND {_is_matched(ask, asked, table, statement)}"
            votes = statement.sql(_VOTES.format(groups=condition))
            for run, of_run in ask(votes, statement.parameters):
                runs += [run] * len(of_run)
                series += of_run
    return Voting(tuple(runs), tuple(series))


def _is_matched(ask: Ask, asked: ComparisonQuery, table: SeriesTable, statement: Statement) -> str:
    """Whether a vote of a statement is of a host and a cipher that the comparison has."""
    statement.ctes["matched"] = votes_statement(ask, asked).ctes["votes"]
    statement.parameters["ciphers"] = [slot.cipher for slot in table.slots]
    compared = measured(ask, asked).series.slots
    statement.parameters["compared_ciphers"] = [slot.cipher for slot in compared]
    return """(host, g, list_extract($ciphers, slot + 1)) IN (
        SELECT (host, g, list_extract($compared_ciphers, slot + 1)) FROM matched
    )"""


def _named_runs(selection: Selection) -> list[int] | None:
    """The runs that the selection names, None where it names none."""
    where = Where([COUNTED], [])
    _add_named(where, selection)
    if len(where.conditions) == 1:
        return None
    rows = fetch_rows(f"SELECT r.id FROM runs_run r WHERE {where.text}", where.parameters)  # noqa: S608
    return [run for (run,) in rows]


def _series_tables(selection: Selection) -> dict[str, SeriesTable]:
    """The chosen series by tool, a slot for each value of the fields that tell votes apart."""
    where = series_conditions(selection)
    # Asked for a MAC, one that was negotiated is as good as one that was asked for.
    fields = [name for name in SERIES_FIELDS if name != "mac" or selection.mac is None]
    rows = fetch_rows(
        f"SELECT s.tool, s.id, s.mac, s.cipher, s.block_size, {', '.join(fields)}"  # noqa: S608
        f" FROM runs_series s WHERE {where.text} ORDER BY s.pinned, s.target_name, s.id",
        where.parameters,
    )
    tools = TOOLS if selection.mac is None else ("ssh",)
    return {
        tool: _table([row for row in rows if row[0] == tool], selection.mac or "") for tool in tools
    }


def _table(rows: Sequence[tuple[Any, ...]], mac: str) -> SeriesTable:
    slots: dict[Any, Slot] = {}
    for _, _, _, cipher, block_size, *fields in rows:
        slots.setdefault(tuple(fields), Slot(cipher, block_size))
    places = {slot: place for place, slot in enumerate(slots)}
    return SeriesTable(
        ids=tuple(row[1] for row in rows),
        slot_of=tuple(places[row[5:]] for row in rows),
        asked=tuple(row[2] == mac for row in rows),
        slots=tuple(slots.values()),
    )
