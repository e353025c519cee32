"""Which measurements a file has, and which of them vote, as SQL.

Text of users is a parameter; the statements themselves are made of the closed lists of
`runs.queries.selection`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from analysis.comparison import Group
from runs.models.environment import OF_LIBRARIES
from runs.models.run import COUNTED
from runs.queries.machine_results import LATEST_FIRST, Relation, machine_results
from runs.queries.selection import (
    OF_ROW,
    ComparisonQuery,
    Where,
    add_filter,
    dimension_value,
    group_members,
    grouping,
    voting_environment,
)

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
    `votes`: of each series of a host in an environment only the latest plausible figure, which is
    the one that votes in comparisons; `groups` leaves those that vote in one of these groups.
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
    groups: "InGroups | None" = None


@dataclass(frozen=True)
class InGroups:
    """Some groups of a `group_by`: `members` are what they are grouped by, ids or texts."""

    group_by: str
    members: tuple[Any, ...]


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


def in_groups(group_by: str, groups: Iterable[Group]) -> InGroups:
    """These groups as what results are grouped by."""
    return InGroups(group_by, tuple(group_members(group_by, [group.key for group in groups])))


def run_conditions(selection: Selection) -> Where:
    """Conditions on runs (r) and environments (e).

    A run that one tool's library lets through may have figures of the other, which
    `result_conditions` leave out.
    """
    where = Where([COUNTED], [])
    for name, values in selection.filters.items():
        if values:
            add_filter(where, name, values, table="r")
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
            where.add(f"{value} = ANY(%s)", group_members(name, selection.filters[name]))
    if selection.mac is not None:
        where.add("(s.mac = %s OR n.mac = %s)", selection.mac, selection.mac)
    return where


def votes_statement(selection: Selection) -> Relation:
    """run_id, series: of each run the numbers of its series that vote.

    As in comparisons, the latest result of a host in an environment has the vote. There a vote is
    one of a cipher, because the query decides all else about its series; here whatever is left
    open makes series that vote beside each other.
    """
    results = machine_results(Relation("ARRAY(SELECT id FROM voting)"), selection.until)
    where, group = _vote_conditions(selection), grouping("host")
    environment = voting_environment(OF_ROW)
    if selection.groups is not None:
        group = grouping(selection.groups.group_by)
    by_run = selection.runs or selection.statuses or selection.text or group.reads_run
    run = "JOIN runs_run r ON r.id = l.run_id" if by_run else ""
    series = series_conditions(selection)
    # Asked for a MAC, one that was negotiated is as good as one that was asked for.
    slot = [name for name in SERIES_FIELDS if name != "mac" or selection.mac is None]
    sql = f"""
        WITH voting AS MATERIALIZED (
            SELECT s.id, s.tool, s.mac, dense_rank() OVER (ORDER BY {", ".join(slot)}) AS slot,
                row_number() OVER (ORDER BY s.pinned, s.target_name, s.id) AS place
            FROM runs_series s WHERE {series.text}
        )
        SELECT run_id, array_agg(series_id ORDER BY series_id) AS series FROM (
            SELECT DISTINCT ON (k.host_id, {environment}, s.slot)
                l.run_id, l.series_id, {group.key} AS g
            FROM {results.sql}
            JOIN voting s ON s.id = l.series_id
            JOIN runs_machine k ON k.id = l.machine_id
            JOIN runs_environment e ON e.id = k.environment_id {run}
            LEFT JOIN runs_negotiated n ON n.id = l.negotiated_id
            WHERE {where.text}
            ORDER BY k.host_id, {environment}, s.slot, {LATEST_FIRST}, s.place
        ) votes {"" if selection.groups is None else "WHERE g = ANY(%s)"}
        GROUP BY run_id
    """  # noqa: S608 - closed lists
    members = [] if selection.groups is None else [list(selection.groups.members)]
    return Relation(
        sql,
        (
            *series.parameters,
            *group.parameters,
            *results.parameters,
            *where.parameters,
            *members,
        ),
    )


def _vote_conditions(selection: Selection) -> Where:
    """Conditions on machines (k, e) and their results (l, n); their runs (r) where one is named."""
    where = result_conditions(selection, "e")
    for name, values in selection.filters.items():
        if values and name not in OF_LIBRARIES:
            add_filter(where, name, values)
    if selection.since is not None:
        where.add("l.started_at >= %s", selection.since)
    _add_named(where, selection)
    return where
