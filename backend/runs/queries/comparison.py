"""Votes of machines from the database, compared by `analysis`."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analysis.comparison import (
    NEEDS_BASELINE,
    NEEDS_PROFILE,
    Comparison,
    Vote,
    build_comparison,
)
from runs.models import ReferenceProfile
from runs.queries.profiles import usable_profile
from runs.queries.selection import (
    ComparisonQuery,
    grouping,
    measurement_conditions,
    series_conditions,
)
from runs.queries.statements import FROM, LATEST_FIRST, fetch_rows

_VALUES = {
    "throughput": "m.median",
    "normalised": "m.median / i.index",
    "vs_arcfour": "m.median / b.level",
    "vs_blowfish": "m.median / b.level",
    "vs_3des": "m.median / b.level",
    "cpu_seconds_per_gb": "m.cpu_seconds_per_gb",
    "cpu_bound_throughput": "m.cpu_bound_throughput",
    "cpu_bound_normalised": "m.cpu_bound_throughput / i.index",
}

_CPU_BOUND_INDEX = """
LEFT JOIN LATERAL (
    SELECT exp(avg(ln(b.cpu_bound_level / reference.level::float8))) AS index
    FROM runs_baselinelevel b
    JOIN jsonb_each_text(%s::jsonb) reference(family, level) ON reference.family = b.family
    WHERE b.run_id = r.id AND b.tool = %s AND b.cpu_bound_level IS NOT NULL
) i ON true
"""
"""The speed index of a run from its CPU-bound levels; parameters: {family: level}, tool."""


def profile_of(query: ComparisonQuery) -> ReferenceProfile | None:
    """The profile asked for, or the active one where the metric needs one."""
    if query.profile is None and query.metric not in NEEDS_PROFILE:
        return None
    return usable_profile(query.profile)


def baseline_join(
    query: ComparisonQuery, profile: ReferenceProfile | None
) -> tuple[str, list[Any]]:
    """The join that brings each run's divisor, and its parameters."""
    if query.metric == "normalised":
        join = (
            "LEFT JOIN runs_runspeedindex i"
            " ON i.run_id = r.id AND i.tool = %s AND i.profile_id = %s"
        )
        return join, [query.tool, profile.pk if profile else None]
    if query.metric == "cpu_bound_normalised":
        levels = profile.levels.get(query.tool, {}) if profile else {}
        return _CPU_BOUND_INDEX, [json.dumps(levels), query.tool]
    if query.metric in NEEDS_BASELINE:
        join = "LEFT JOIN runs_baselinelevel b ON b.run_id = r.id AND b.tool = %s AND b.family = %s"
        return join, [query.tool, query.metric.removeprefix("vs_")]
    return "", []


def _common_block_size(query: ComparisonQuery) -> int | None:
    """The largest block size that all groups have; failing that, the one that most have."""
    group = grouping(query.group_by)
    where = measurement_conditions(query)
    statement = (
        f"SELECT s.block_size {FROM} {group.join} WHERE {where.text}"
        " GROUP BY s.block_size"
        f" ORDER BY count(DISTINCT {group.key}) DESC, s.block_size DESC LIMIT 1"
    )
    parameters = [*where.parameters, *group.parameters[:1]]
    rows = fetch_rows(statement, parameters)
    return rows[0][0] if rows else None


def resolve_block_size(query: ComparisonQuery) -> ComparisonQuery:
    """The query with its block size decided, where the tool has one and none was asked for."""
    if query.tool != "openssl" or query.block_size is not None:
        return query
    return replace(query, block_size=_common_block_size(query))


def machines(query: ComparisonQuery) -> dict[str, int]:
    """Group key -> (host, environment) pairs that belong to it, whatever ciphers they measured.

    A pair belongs to the group of its latest run, as its votes do.
    """
    group = grouping(query.group_by)
    where = series_conditions(query)
    statement = f"""
        SELECT key, count(*) FROM (
            SELECT DISTINCT ON (r.host_id, r.environment_id) {group.key} AS key
            {FROM} {group.join} WHERE {where.text}
            ORDER BY r.host_id, r.environment_id, {LATEST_FIRST}
        ) latest GROUP BY key
    """  # noqa: S608 - closed lists
    rows = fetch_rows(statement, [*group.parameters[:1], *where.parameters])
    return dict(rows)


def vote_rows(
    query: ComparisonQuery,
    columns: str,
    join: str = "",
    join_parameters: Sequence[Any] = (),
    only: str = "",
) -> list[tuple[Any, ...]]:
    """One row for each host, environment and cipher: of the latest run that measured it.

    Its columns: group key and label, host, environment, cipher, and those asked for. `only` is
    a further condition on the rows that may be the latest. No text of users may be in either.
    """
    group = grouping(query.group_by)
    where = measurement_conditions(query)
    if only:
        where.add(only)
    statement = f"""
        SELECT DISTINCT ON (r.host_id, r.environment_id, s.cipher)
            {group.key}, {group.label}, r.host_id, r.environment_id, s.cipher, {columns}
        {FROM} {group.join} {join}
        WHERE {where.text}
        ORDER BY r.host_id, r.environment_id, s.cipher,
            {LATEST_FIRST}, s.pinned, s.target_name, m.series_id
    """
    return fetch_rows(statement, [*group.parameters, *join_parameters, *where.parameters])


def votes(query: ComparisonQuery, profile: ReferenceProfile | None) -> list[Vote]:
    """The votes on the query's metric, a normalised one under `profile`."""
    join, join_parameters = baseline_join(query, profile)
    value = _VALUES[query.metric]
    uncertainty = "i.uncertainty" if query.metric == "normalised" else "NULL"
    columns = f"{value}, r.source, {uncertainty}"
    # Without a baseline a machine is counted as excluded; without CPU time it has nothing to say.
    only = "" if query.metric in NEEDS_BASELINE else f"{value} IS NOT NULL"
    if query.metric == "cpu_bound_normalised":
        only = "m.cpu_bound_throughput IS NOT NULL"
    return [Vote(*row) for row in vote_rows(query, columns, join, join_parameters, only)]


def compare(query: ComparisonQuery) -> Comparison:
    """The comparison that the query asks for; `UnknownProfile` when it names none of ours."""
    query = resolve_block_size(query)
    profile = profile_of(query)
    return build_comparison(
        votes(query, profile),
        machines(query),
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        profile=profile.name if profile else None,
    )
