"""Comparisons from the database; `analysis.comparison` says in Python what they mean."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analysis.comparison import NEEDS_PROFILE, Comparison, Vote, comparison_of
from runs.models import ReferenceProfile
from runs.queries.block_size import common_block_size
from runs.queries.grouped_votes import (
    HOSTS_OF_LATEST_RUNS,
    HOSTS_THAT_VOTE,
    GroupedVotes,
    grouped_votes,
)
from runs.queries.machine_results import SeriesTable, class_series
from runs.queries.profiles import usable_profile
from runs.queries.rolled_up import (
    grouped_by_rollup,
    grouped_by_slice,
    is_rolled_up,
    is_small,
    resolved_by_rollup,
)
from runs.queries.selection import ComparisonQuery, grouping
from runs.queries.statements import fetch_rows
from runs.queries.votes import (
    SILENT,
    UNCERTAINTY,
    VALUES,
    baseline_join,
    group_names,
    sources_of,
    votes_of_query,
)


def profile_of(query: ComparisonQuery) -> ReferenceProfile | None:
    """The profile asked for, or the active one where the metric needs one."""
    if query.profile is None and query.metric not in NEEDS_PROFILE:
        return None
    return usable_profile(query.profile)


def resolve_block_size(query: ComparisonQuery) -> ComparisonQuery:
    """The query with its block size decided, where the tool has one and none was asked for."""
    if query.tool != "openssl" or query.block_size is not None:
        return query
    if is_rolled_up(query):
        return resolved_by_rollup(query, profile_of(query))
    return _resolved(query, class_series(query))


def _resolved(query: ComparisonQuery, every: SeriesTable) -> ComparisonQuery:
    if query.tool != "openssl" or query.block_size is not None:
        return query
    return replace(query, block_size=common_block_size(query, every.choice(query)))


def machines(query: ComparisonQuery) -> dict[str, int]:
    """Group key -> (host, environment) pairs that belong to it, whatever ciphers they measured.

    A pair belongs to the group of its latest run, as its votes do.
    """
    votes = votes_of_query(query, class_series(query))
    hosts = HOSTS_OF_LATEST_RUNS if grouping(query.group_by, query.tool).of_run else HOSTS_THAT_VOTE
    statement = f"WITH votes AS MATERIALIZED ({votes.sql}) {hosts}"
    counts = dict(fetch_rows(statement, list(votes.parameters)))
    names = group_names(query.group_by, counts)
    return {names[group][0]: count for group, count in counts.items()}


def vote_rows(
    query: ComparisonQuery,
    columns: str,
    join: str = "",
    join_parameters: Sequence[Any] = (),
    most: int | None = None,
) -> list[tuple[Any, ...]]:
    """One row for each host, environment and cipher: of the latest run that measured it.

    Its columns: group key and label, host, environment, cipher, and those asked for: of votes
    (v: run_id, median, cpu_seconds_per_gb, cpu_bound_throughput) and of what `join` brings. No
    text of users may be in either. At most `most` rows.
    """
    every = class_series(query)
    votes = votes_of_query(query, every.choice(query))
    rows = fetch_rows(
        f"SELECT v.g, v.host_id, v.environment_id, v.slot, {columns} FROM ({votes.sql}) v {join}"  # noqa: S608
        " ORDER BY v.host_id, v.environment_id, v.slot LIMIT %s",
        [*votes.parameters, *join_parameters, most],
    )
    names = group_names(query.group_by, {row[0] for row in rows})
    return [
        (*names[group], host, environment, every.slots[slot].cipher, *asked)
        for group, host, environment, slot, *asked in rows
    ]


def votes(query: ComparisonQuery, profile: ReferenceProfile | None) -> list[Vote]:
    """The votes on the query's metric, a normalised one under `profile`.

    The latest run has the vote whatever it can say: without a baseline its value is None, and
    without CPU time a vote on the CPU-bound normalised rate is none at all.
    """
    join = baseline_join(query, profile)
    columns = (
        f"{VALUES[query.metric]}, v.source, {UNCERTAINTY.get(query.metric, 'NULL')},"
        f" {SILENT.get(query.metric, 'false')}"
    )
    rows = vote_rows(query, columns, join.sql, join.parameters)
    return [
        Vote(key, label, host, environment, cipher, value, sources_of(source)[0], uncertainty)
        for key, label, host, environment, cipher, value, source, uncertainty, silent in rows
        if not silent
    ]


def compare(query: ComparisonQuery) -> Comparison:
    """The comparison that the query asks for; `UnknownProfile` when it names none of ours.

    Unfiltered by a dimension of environments it comes from a rollup, which is exact unless the
    caller allows it to lag (`runs.rollups.allowing_lag`).
    """
    profile = profile_of(query)
    if is_rolled_up(query):
        return _comparison(query, profile, grouped_by_rollup(query, profile))
    return compare_directly(query)


def compare_directly(query: ComparisonQuery) -> Comparison:
    """The same from the machines' latest results, in one statement beside that for a block size."""
    profile = profile_of(query)
    if is_small(query):
        return _comparison(query, profile, grouped_by_slice(query, profile))
    every = class_series(query)
    query = _resolved(query, every)
    return _comparison(query, profile, grouped_votes(query, profile, every))


def _comparison(
    query: ComparisonQuery, profile: ReferenceProfile | None, grouped: GroupedVotes
) -> Comparison:
    return comparison_of(
        grouped.groups,
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        profile=profile.name if profile else None,
        no_baseline=grouped.no_baseline,
    )
