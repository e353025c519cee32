"""Comparisons from the analytics copy; `analysis.comparison` says in Python what they mean."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analysis.comparison import NEEDS_PROFILE, Comparison, Vote, comparison_of
from runs.analytics.engine import Ask, questions
from runs.models import ReferenceProfile
from runs.queries.figures import results_statement
from runs.queries.profiles import usable_profile
from runs.queries.selection import ComparisonQuery
from runs.queries.series_choice import SeriesTable, class_series
from runs.queries.votes import (
    group_names,
    grouped_votes,
    host_counts,
    sources_of,
    votes_statement,
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
    with questions() as ask:
        return _resolved(ask, query, class_series(query))


def _resolved(ask: Ask, query: ComparisonQuery, every: SeriesTable) -> ComparisonQuery:
    """With the largest block size that all groups have; failing that, the one that most have."""
    if query.tool != "openssl" or query.block_size is not None:
        return query
    statement = results_statement(query, every)
    most = "SELECT block FROM results GROUP BY block ORDER BY count(DISTINCT g) DESC, block DESC"
    rows = ask(statement.sql(f"{most} LIMIT 1"), statement.parameters)
    return replace(query, block_size=rows[0][0] if rows else None)


def machines(query: ComparisonQuery) -> dict[str, int]:
    """Group key -> hosts that belong to it, whatever ciphers they measured."""
    with questions() as ask:
        counts = host_counts(ask, query, class_series(query))
    names = group_names(query.group_by, counts)
    return {names[group][0]: count for group, count in counts.items()}


def vote_rows(
    query: ComparisonQuery,
    profile: ReferenceProfile | None,
    columns: Sequence[str],
    most: int | None = None,
) -> list[tuple[Any, ...]]:
    """One row for each vote: group key and label, host, cipher, and columns of `votes`.

    At most `most` rows.
    """
    every = class_series(query)
    votes = votes_statement(query, profile, every.choice(query))
    votes.parameters["most"] = most
    select = (
        f"SELECT g, host, slot, {', '.join(columns)} FROM votes"  # noqa: S608
        " ORDER BY host, slot, run LIMIT $most"
    )
    with questions() as ask:
        rows = ask(votes.sql(select), votes.parameters)
    names = group_names(query.group_by, {row[0] for row in rows})
    return [
        (*names[group], host, every.slots[slot].cipher, *asked)
        for group, host, slot, *asked in rows
    ]


def votes(query: ComparisonQuery, profile: ReferenceProfile | None) -> list[Vote]:
    """The votes on the query's metric, a normalised one under `profile`."""
    rows = vote_rows(query, profile, ("value", "source", "uncertainty"))
    return [
        Vote(key, label, host, cipher, value, sources_of(source)[0], uncertainty)
        for key, label, host, cipher, value, source, uncertainty in rows
    ]


def compare(query: ComparisonQuery) -> Comparison:
    """The comparison that the query asks for; `UnknownProfile` when it names none of ours."""
    profile = profile_of(query)
    every = class_series(query)
    with questions() as ask:
        query = _resolved(ask, query, every)
        grouped = grouped_votes(ask, query, profile, every)
    return comparison_of(
        grouped.groups,
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        profile=profile.name if profile else None,
        no_baseline=grouped.no_baseline,
    )
