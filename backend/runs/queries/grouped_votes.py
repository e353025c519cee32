"""Votes grouped and summarised by the database: by ids, whatever names and labels are."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from analysis.comparison import NEEDS_BASELINE, Group
from analysis.groups import GroupSummary
from runs.analytics.quality_flags import DOUBTFUL_VOTES, is_doubtful
from runs.models import ReferenceProfile
from runs.queries.machine_results import (
    LATEST_FIRST,
    Relation,
    SeriesTable,
    Slot,
    results_of_machine,
)
from runs.queries.selection import (
    ComparisonQuery,
    grouping,
    machine_conditions,
    result_conditions,
    voting_environment,
)
from runs.queries.series_sets import groups_of_latest_runs
from runs.queries.statements import fetch_prepared, fetch_rows
from runs.queries.votes import (
    SILENT,
    UNCERTAINTY,
    VALUES,
    Names,
    baseline_join,
    group_names,
    sources_of,
    votes_of_query,
)

VALUE_ROWS = f"""
SELECT g, slot, count(*)::int AS n, min(value) AS minimum,
    percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY value) AS quartiles,
    max(value) AS maximum,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY uncertainty) AS uncertainty,
    bit_or(source) AS sources, {DOUBTFUL_VOTES} AS doubtful
FROM valued WHERE value IS NOT NULL GROUP BY g, slot
"""  # noqa: S608 - constants
"""A group's summary of one slot, as `analysis.groups.summarise_group` makes it."""

_PATTERNS = """
SELECT unvalued, coalesce(valued, '{}'), count(*) FROM (
    SELECT array_agg(slot ORDER BY slot) FILTER (WHERE value IS NULL) AS unvalued,
        array_agg(slot ORDER BY slot) FILTER (WHERE value IS NOT NULL) AS valued
    FROM valued GROUP BY host_id, environment_id HAVING bool_or(value IS NULL)
) machines GROUP BY unvalued, valued
"""
"""What machines without a baseline have no value for and what they have one for."""

_WITHOUT = f"""
UNION ALL
SELECT 'without', NULL, NULL, machines, NULL, NULL, NULL, NULL, NULL, NULL, unvalued, valued
FROM ({_PATTERNS}) pattern_rows (unvalued, valued, machines)
"""  # noqa: S608 - constants

_NO_BASELINE = """
SELECT count(*) FROM (
    SELECT FROM valued GROUP BY host_id, environment_id HAVING bool_and(value IS NULL)
) without
"""

HOSTS_THAT_VOTE = """
SELECT g, count(*)::int FROM (SELECT DISTINCT g, host_id, environment_id FROM votes) pairs
GROUP BY g
"""

HOSTS_OF_LATEST_RUNS = f"""
SELECT g, count(*)::int FROM (
    SELECT DISTINCT ON (host_id, environment_id) g FROM votes l
    ORDER BY host_id, environment_id, {LATEST_FIRST}
) machines GROUP BY g
"""  # noqa: S608 - constants

_VOTERS = """
SELECT g, count(*)::int FROM (
    SELECT DISTINCT g, host_id, environment_id FROM valued WHERE value IS NOT NULL
) pairs GROUP BY g
"""


@dataclass(frozen=True)
class GroupedVotes:
    """What the groups of a query are, and how many machines have no baseline."""

    groups: tuple[Group, ...]
    no_baseline: int


class ValueRow(NamedTuple):
    """A group's summary of one slot. `group` is what the query groups by, an id or a text.

    `doubtful`: of its votes, None where there are too many to tell.
    """

    group: Any
    slot: Slot
    summary: GroupSummary
    uncertainty: float | None
    sources: int
    doubtful: int | None


def valued_votes(
    query: ComparisonQuery,
    profile: ReferenceProfile | None,
    series: SeriesTable,
    slots: list[int],
) -> Relation:
    """WITH `votes` (of all these series) and `valued`, those of the chosen slots on the metric."""
    votes, join = votes_of_query(query, series), baseline_join(query, profile)
    sql = f"""
        WITH votes AS MATERIALIZED ({votes.sql}),
        valued AS (
            SELECT v.g, v.host_id, v.environment_id, v.slot, v.source,
                {is_doubtful(query.metric)} AS doubtful, {VALUES[query.metric]} AS value,
                {UNCERTAINTY.get(query.metric, "NULL::float8")} AS uncertainty
            FROM votes v {join.sql}
            WHERE v.slot = ANY(%s) AND NOT ({SILENT.get(query.metric, "false")})
        )
    """  # noqa: S608 - closed lists
    return Relation(sql, (*votes.parameters, *join.parameters, slots))


def grouped_votes(
    query: ComparisonQuery, profile: ReferenceProfile | None, every: SeriesTable
) -> GroupedVotes:
    """The groups of a query whose block size is resolved; `every` are the series of its class.

    One statement whatever the filters, and one for the names of the groups.
    """
    chosen = every.choice(query)
    all_read = _reads_whole_class(query, chosen, every)
    votes = valued_votes(query, profile, every if all_read else chosen, chosen.used_slots)
    hosts = _hosts(query, chosen, every, all_read)
    without = _NO_BASELINE if query.metric in NEEDS_BASELINE else "0"
    rows = _fetch(
        query,
        f"""{votes.sql}
        SELECT 'value', g, slot, n, minimum, quartiles, maximum, uncertainty, sources, doubtful
        FROM ({VALUE_ROWS}) value_rows
        UNION ALL SELECT 'hosts', g, NULL, hosts, NULL, NULL, NULL, NULL, NULL, NULL
        FROM ({hosts.sql}) host_rows (g, hosts)
        UNION ALL SELECT 'without', NULL, NULL, ({without}), NULL, NULL, NULL, NULL, NULL, NULL
        """,  # noqa: S608 - closed lists
        [*votes.parameters, *hosts.parameters],
    )
    values = [value_row(every.slots, *row) for kind, *row in rows if kind == "value"]
    machines: defaultdict[Any, int] = defaultdict(int)
    for kind, g, _, count, *_ in rows:
        if kind == "hosts":
            machines[g] = max(machines[g], count)
    (no_baseline,) = (row[3] for row in rows if row[0] == "without")
    names = group_names(query.group_by, {row.group for row in values})
    return GroupedVotes(groups_of(values, names, machines), no_baseline)


def _fetch(
    query: ComparisonQuery, statement: str, parameters: Sequence[Any]
) -> list[tuple[Any, ...]]:
    """The rows of a statement on a query's votes.

    Named hosts are found by their index whoever they are. What else selects may be rare or
    frequent, and the best plan hangs on it.
    """
    fetch = fetch_prepared if query.names_hosts else fetch_rows
    return fetch(statement, parameters)


@dataclass(frozen=True)
class SliceRows:
    """All that answers a comparison of any ciphers of one class, unfiltered.

    `values`: group, slot and summary as in `VALUE_ROWS`; `seen`: the groups that measured each
    slot; `without`: slots without a value, with one, and the machines of which that is so.
    """

    values: list[tuple[Any, ...]]
    seen: list[tuple[Any, int]]
    hosts: dict[Any, int]
    without: list[tuple[list[int], list[int], int]]


def slice_rows(
    query: ComparisonQuery, profile: ReferenceProfile | None, every: SeriesTable
) -> SliceRows:
    """Every group of a query by every slot of its class, in one statement."""
    votes = valued_votes(query, profile, every, every.used_slots)
    without = _WITHOUT if query.metric in NEEDS_BASELINE else ""
    rows = _fetch(
        query,
        f"""{votes.sql}
        SELECT 'value', g, slot, n, minimum, quartiles, maximum, uncertainty, sources,
            doubtful, NULL::int[], NULL::int[]
        FROM ({VALUE_ROWS}) value_rows
        UNION ALL SELECT 'hosts', g, NULL, hosts, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
        FROM ({HOSTS_THAT_VOTE}) host_rows (g, hosts)
        UNION ALL SELECT 'seen', g, slot, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
        FROM (SELECT DISTINCT g, slot FROM votes) seen_rows
        {without}
        """,  # noqa: S608 - closed lists
        votes.parameters,
    )
    return SliceRows(
        values=[tuple(row[1:10]) for row in rows if row[0] == "value"],
        seen=[(row[1], row[2]) for row in rows if row[0] == "seen"],
        hosts={row[1]: row[3] for row in rows if row[0] == "hosts"},
        without=[(row[10], row[11], row[3]) for row in rows if row[0] == "without"],
    )


def _reads_whole_class(query: ComparisonQuery, chosen: SeriesTable, every: SeriesTable) -> bool:
    """Whether all results of the machines are read, and not only those of the chosen ciphers.

    Which machines belong to a group does not hang on the ciphers. It is enough to look by the
    index whether a machine has any other result, or what its latest run with one says of itself,
    unless something else is asked of that run.
    """
    of_run = grouping(query.group_by, query.tool).of_run and query.asks_of_latest
    return of_run or len(chosen.ids) == len(every.ids)


def _hosts(
    query: ComparisonQuery, chosen: SeriesTable, every: SeriesTable, all_read: bool
) -> Relation:
    """(g, hosts): the (host, environment) pairs of each group, by `votes` and `valued`."""
    group = grouping(query.group_by, query.tool)
    if group.of_run:
        by_run = Relation(HOSTS_OF_LATEST_RUNS)
        if not all_read:
            by_run = groups_of_latest_runs(query, every.ids)
        return Relation(f"({by_run.sql}) UNION ALL ({_VOTERS})", by_run.parameters)
    if all_read:
        return Relation(HOSTS_THAT_VOTE)
    others = every.without(chosen)
    environment = voting_environment(query.tool)
    machines, dates = machine_conditions(query), result_conditions(query)
    results = results_of_machine(others.array, query.until)
    # Few are left when those that vote are gone; a scalar subquery has each of them looked up by
    # its key, where a join would read them all.
    sql = f"""
        WITH silent AS MATERIALIZED (
            SELECT {group.key} AS g, {environment} AS voting_id, k.*
            FROM runs_machine k JOIN runs_environment e ON e.id = k.environment_id
            WHERE {machines.text} AND NOT EXISTS (
                SELECT FROM votes v
                WHERE v.host_id = k.host_id AND v.environment_id = {environment}
            )
        )
        SELECT g, count(*)::int FROM (
            SELECT DISTINCT g, host_id, environment_id FROM votes
            UNION ALL SELECT DISTINCT g, host_id, voting_id FROM silent k
            WHERE (
                SELECT true FROM {results.sql} JOIN {others.table.sql} ON s.id = l.series_id
                WHERE l.machine_id = k.id AND l.series_id = ANY({others.array.sql})
                    AND {dates.text} LIMIT 1
            )
        ) pairs GROUP BY g
    """  # noqa: S608 - closed lists
    return Relation(
        sql,
        (
            *group.parameters,
            *machines.parameters,
            *results.parameters,
            *others.table.parameters,
            *others.array.parameters,
            *dates.parameters,
        ),
    )


def value_row(
    slots: Sequence[Slot],
    group: Any,
    slot: int,
    n: int,
    minimum: float,
    quartiles: Sequence[float],
    maximum: float,
    uncertainty: float | None,
    sources: int,
    doubtful: int | None,
) -> ValueRow:
    """A row of `VALUE_ROWS`."""
    first, median, third = quartiles
    summary = GroupSummary(median, first, third, minimum, maximum, n)
    return ValueRow(group, slots[slot], summary, uncertainty, sources, doubtful)


def groups_of(
    values: Iterable[ValueRow], names: Names, machines: Mapping[Any, int]
) -> tuple[Group, ...]:
    """The groups that have a value; `machines` says how many each has."""
    members: defaultdict[Any, list[ValueRow]] = defaultdict(list)
    for row in values:
        members[row.group].append(row)
    return tuple(
        _group(names[group], rows, machines.get(group, 0)) for group, rows in members.items()
    )


def _group(name: tuple[str, str], rows: list[ValueRow], machines: int) -> Group:
    rows.sort(key=lambda row: row.slot.cipher)
    return Group(
        key=name[0],
        label=name[1],
        hosts=machines,
        values={row.slot.cipher: row.summary for row in rows},
        sources=sources_of(reduce(or_, (row.sources for row in rows))),
        uncertainty={
            row.slot.cipher: row.uncertainty for row in rows if row.uncertainty is not None
        },
        doubtful={row.slot.cipher: row.doubtful for row in rows if row.doubtful},
    )
