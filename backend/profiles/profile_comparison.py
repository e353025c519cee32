"""The same runs under two reference profiles."""

from dataclasses import dataclass, replace

from analysis.comparison import Comparison, Vote, comparison_of, groups_of
from analysis.profiles.baselines import FAMILIES
from results.comparison.comparison import machines, votes
from results.comparison.measured import resolve_block_size
from results.selection import TOOLS, ComparisonQuery
from store.models import ReferenceProfile
from store.reference_profiles import IncompleteProfile


@dataclass(frozen=True)
class LevelPair:
    """A family's level in each profile, bytes per second; None where it is unknown."""

    tool: str
    family: str
    first: float | None
    second: float | None

    @property
    def ratio(self) -> float | None:
        """Second over first; None unless both know the family."""
        return self.second / self.first if self.first and self.second else None


@dataclass(frozen=True)
class ProfileComparison:
    """Two profiles side by side; both comparisons are of the same runs, group by group.

    `left_out`: hosts that not both profiles can normalise.
    """

    first: ReferenceProfile
    second: ReferenceProfile
    levels: tuple[LevelPair, ...]
    under_first: Comparison
    under_second: Comparison
    left_out: int


def compare_profiles(
    query: ComparisonQuery, first: ReferenceProfile, second: ReferenceProfile
) -> ProfileComparison:
    """The query's normalised medians under both; `IncompleteProfile` while one is computed."""
    for profile in (first, second):
        if profile.completed_at is None:
            raise IncompleteProfile(profile)
    query = resolve_block_size(replace(query.plain, metric="normalised"))
    one, other = (_by_vote(query, profile) for profile in (first, second))
    shared = [key for key in one if one[key].value is not None and other[key].value is not None]
    kept = {one[key].host_id for key in shared}
    counted = machines(query)

    def under(profile: ReferenceProfile, of: dict[Key, Vote]) -> Comparison:
        return comparison_of(
            groups_of((of[key] for key in shared), counted),
            tool=query.tool,
            group_by=query.group_by,
            metric="normalised",
            profile=profile.name,
            no_baseline=0,
        )

    return ProfileComparison(
        first=first,
        second=second,
        levels=_level_pairs(first, second),
        under_first=under(first, one),
        under_second=under(second, other),
        left_out=len({vote.host_id for vote in one.values()} - kept),
    )


Key = tuple[str, int, str]
"""Group, host and cipher of a vote."""


def _by_vote(query: ComparisonQuery, profile: ReferenceProfile) -> dict[Key, Vote]:
    """Which run votes does not depend on the profile, so both have the same keys."""
    return {(one.group_key, one.host_id, one.cipher): one for one in votes(query, profile)}


def _level_pairs(first: ReferenceProfile, second: ReferenceProfile) -> tuple[LevelPair, ...]:
    pairs = (
        LevelPair(
            tool,
            family,
            first.levels.get(tool, {}).get(family),
            second.levels.get(tool, {}).get(family),
        )
        for tool in TOOLS
        for family in FAMILIES
    )
    return tuple(pair for pair in pairs if pair.first is not None or pair.second is not None)
