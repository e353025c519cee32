"""Comparisons from the analytics copy; `analysis.comparison` says in Python what they mean."""

from collections.abc import Sequence
from typing import Any

from analysis.comparison import NEEDS_PROFILE, Comparison, GroupKey, Vote, comparison_of
from results.analytics.engine import questions
from results.comparison.default_block_size import resolve_block_size
from results.comparison.measured import measured
from results.comparison.relative import related
from results.comparison.votes import (
    GroupedVotes,
    group_names,
    grouped_votes,
    sources_of,
    votes_statement,
)
from results.selection import ComparisonQuery
from store.models import ReferenceProfile
from store.reference_profiles import usable_profile


def profile_of(query: ComparisonQuery) -> ReferenceProfile | None:
    """The profile asked for, or the active one where the metric needs one."""
    if query.profile is None and query.metric not in NEEDS_PROFILE:
        return None
    return usable_profile(query.profile)


def machines(query: ComparisonQuery) -> dict[GroupKey, int]:
    """Group -> hosts that belong to it, whatever ciphers they measured."""
    with questions() as ask:
        counts = measured(ask, query).hosts_by_group()
    names = group_names(query, counts)
    return {(names[group].key, names[group].split_key): count for group, count in counts.items()}


def vote_rows(
    query: ComparisonQuery,
    profile: ReferenceProfile | None,
    columns: Sequence[str],
    most: int | None = None,
) -> list[tuple[Any, ...]]:
    """One row for each vote of a query that is not split.

    It has group key and label, host, cipher, and columns of `votes`. At most `most` rows.
    """
    select = (
        f"SELECT g, host, slot, {', '.join(columns)} FROM votes"  # noqa: S608
        " ORDER BY host, slot, run LIMIT $most"
    )
    with questions() as ask:
        votes, slots = votes_statement(ask, query, profile), measured(ask, query).series.slots
        votes.parameters["most"] = most
        rows = ask(votes.sql(select), votes.parameters)
    names = group_names(query, {row[0] for row in rows})
    return [
        (*names[group][:2], host, slots[slot].cipher, *asked) for group, host, slot, *asked in rows
    ]


def votes(query: ComparisonQuery, profile: ReferenceProfile | None) -> list[Vote]:
    """The votes on the query's metric, a normalised one under `profile`."""
    rows = vote_rows(query, profile, ("value", "source", "uncertainty"))
    return [
        Vote(key, label, host, cipher, value, sources_of(source)[0], uncertainty)
        for key, label, host, cipher, value, source, uncertainty in rows
    ]


def compare(query: ComparisonQuery) -> Comparison:
    """The comparison that the query asks for; `Unanswerable` where there is none."""
    profile = profile_of(query)
    with questions() as ask:
        query = resolve_block_size(query)
        grouped = related(ask, query, profile, grouped_votes(ask, query, profile))
    return comparison_of_groups(query, profile, grouped)


def comparison_of_groups(
    query: ComparisonQuery, profile: ReferenceProfile | None, grouped: GroupedVotes
) -> Comparison:
    """The answer to a query of these groups."""
    return comparison_of(
        grouped.groups,
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        profile=profile.name if profile else None,
        no_baseline=grouped.no_baseline,
        split_by=query.split_by,
        relative_to=grouped.relative_to,
        matched=query.matched,
        scored=query.score,
    )
