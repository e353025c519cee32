"""The votes of a comparison in SQL: of each machine the latest result, and its value."""

import json
from collections.abc import Iterable
from typing import Any

from analysis.comparison import NEEDS_BASELINE
from runs.models import ReferenceProfile
from runs.queries.machine_results import LATEST_FIRST, Relation, SeriesTable, machine_results
from runs.queries.selection import (
    ComparisonQuery,
    grouping,
    machine_conditions,
    result_conditions,
    voting_environment,
)
from runs.queries.statements import fetch_prepared

VALUES = {
    "throughput": "v.median",
    "normalised": "v.median / i.index",
    "vs_arcfour": "v.median / b.level",
    "vs_blowfish": "v.median / b.level",
    "vs_3des": "v.median / b.level",
    "cpu_seconds_per_gb": "v.cpu_seconds_per_gb",
    "cpu_bound_throughput": "v.cpu_bound_throughput",
    "cpu_bound_normalised": "v.cpu_bound_throughput / i.index",
}
"""Metric -> SQL of a vote's value, NULL where its run has none."""

UNCERTAINTY = {"normalised": "i.uncertainty"}
"""Metric -> SQL of the factor that a vote's value is uncertain by."""

SILENT = {"cpu_bound_normalised": "v.cpu_bound_throughput IS NULL"}
"""Metric -> when a vote says nothing at all, not even that its machine has no baseline."""

_CPU_BOUND_INDEX = """
LEFT JOIN LATERAL (
    SELECT exp(avg(ln(b.cpu_bound_level / reference.level::float8))) AS index
    FROM runs_baselinelevel b
    JOIN jsonb_each_text(%s::jsonb) reference(family, level) ON reference.family = b.family
    WHERE b.run_id = v.run_id AND b.tool = %s AND b.cpu_bound_level IS NOT NULL
) i ON true
"""
"""The speed index of a run from its CPU-bound levels; parameters: {family: level}, tool."""


def baseline_join(query: ComparisonQuery, profile: ReferenceProfile | None) -> Relation:
    """The join that brings the divisor of each vote's (v) run."""
    if query.metric == "normalised":
        join = (
            "LEFT JOIN runs_runspeedindex i"
            " ON i.run_id = v.run_id AND i.tool = %s AND i.profile_id = %s"
        )
        return Relation(join, (query.tool, profile.pk if profile else None))
    if query.metric == "cpu_bound_normalised":
        levels = profile.levels.get(query.tool, {}) if profile else {}
        return Relation(_CPU_BOUND_INDEX, (json.dumps(levels), query.tool))
    if query.metric in NEEDS_BASELINE:
        join = (
            "LEFT JOIN runs_baselinelevel b"
            " ON b.run_id = v.run_id AND b.tool = %s AND b.family = %s"
        )
        return Relation(join, (query.tool, query.metric.removeprefix("vs_")))
    return Relation("")


def results_of_query(query: ComparisonQuery, series: SeriesTable) -> Relation:
    """FROM and WHERE of the results (l) of these series that the query's filters let through.

    With them are their series (s), machines (k), environments (e) and, where the group is one of
    runs, those (r).
    """
    results = machine_results(series.array, query.until)
    reads_run = grouping(query.group_by).reads_run
    run = "JOIN runs_run r ON r.id = l.run_id" if reads_run else ""
    machines, dates = machine_conditions(query), result_conditions(query)
    sql = f"""
        FROM {results.sql}
        JOIN {series.table.sql} ON s.id = l.series_id
        JOIN runs_machine k ON k.id = l.machine_id
        JOIN runs_environment e ON e.id = k.environment_id {run}
        WHERE l.series_id = ANY({series.array.sql}) AND {machines.text} AND {dates.text}
    """
    return Relation(
        sql,
        (
            *results.parameters,
            *series.table.parameters,
            *series.array.parameters,
            *machines.parameters,
            *dates.parameters,
        ),
    )


def votes_of_query(query: ComparisonQuery, series: SeriesTable) -> Relation:
    """One row for each host, environment and slot: of the latest run that measured it.

    Columns: g (what `grouping` groups by), host_id, environment_id (`voting_environment`), slot,
    run_id, started_at, the figures, what is doubtful of them, and the source as a bit of
    `SOURCE_BITS`.
    """
    environment = voting_environment(query.tool)
    group = grouping(query.group_by, query.tool)
    results = results_of_query(query, series)
    sql = f"""
        SELECT DISTINCT ON (k.host_id, {environment}, s.slot)
            {group.key} AS g, k.host_id, {environment} AS environment_id, s.slot,
            l.run_id, l.started_at,
            l.median, l.cpu_seconds_per_gb, l.cpu_bound_throughput, l.doubts,
            {SOURCE_BIT} AS source
        {results.sql}
        ORDER BY k.host_id, {environment}, s.slot, {LATEST_FIRST}, s.place
    """
    return Relation(sql, (*group.parameters, *results.parameters))


SOURCE_BITS = {"agent": 1, "import": 2, "published": 4}
SOURCE_BIT = "CASE k.source WHEN 'agent' THEN 1 WHEN 'import' THEN 2 ELSE 4 END"


def sources_of(bits: int) -> tuple[str, ...]:
    """The sources that `bit_or` of `SOURCE_BIT` stands for."""
    return tuple(sorted(name for name, bit in SOURCE_BITS.items() if bits & bit))


Names = dict[Any, tuple[str, str]]


def group_names(group_by: str, groups: Iterable[Any]) -> Names:
    """What a query groups by -> key and label of each of these groups."""
    group, wanted = grouping(group_by), list(groups)
    if not group.names:
        return {one: group.name_of(one) for one in wanted}
    rows = fetch_prepared(f"{group.names} WHERE id = ANY(%s)", [wanted])
    return {pk: (key, label) for pk, key, label in rows}
