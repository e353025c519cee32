"""Leave one baseline family out: does the ranking change? (docs/method.md, section 2)

The yardstick is an approximation. Where the order of groups depends on one of its three
families, it should not be believed; where it does not, the reader may be told so.
"""

import math
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from statistics import geometric_mean, median

from analysis.baselines import FAMILIES
from analysis.comparison import natural_key
from analysis.groups import GroupSummary, summarise_group
from analysis.normalisation import SpeedIndex, normalised, speed_index

MOST_LISTED = 200
"""Of more pairs only so many are listed; thousands of hosts have millions of pairs."""

MOST_NAMED = 5
"""Of more pairs that change places a sentence names these and counts the others."""

Indices = dict[tuple[str, str | None], SpeedIndex | None]
"""(run, family left out) -> its speed index; None when no family is left."""


@dataclass(frozen=True)
class RankedRun:
    """A run's vote in a group for one cipher, with the run's baseline levels.

    `throughput` and `levels` (by family) in bytes per second, of one tool; `noise` is how far the
    true throughput may be away, a fraction.
    """

    run: str
    group: str
    throughput: float
    levels: Mapping[str, float]
    noise: float = 0.0


@dataclass(frozen=True)
class Ranking:
    """Groups by the median of their normalised throughputs (bytes per second), fastest first.

    `without` is the family left out, None for the full yardstick. `indices`: speed index of
    each run that has one. `excluded`: runs that this yardstick cannot normalise. `places`: from 1
    on; groups that the noise of their throughputs does not tell apart share one.
    """

    without: str | None
    indices: Mapping[str, SpeedIndex]
    values: Mapping[str, GroupSummary]
    order: tuple[str, ...]
    excluded: tuple[str, ...]
    places: Mapping[str, int]

    @cached_property
    def ties(self) -> tuple[tuple[str, ...], ...]:
        """The groups that share a place, the best place first."""
        shared = (tuple(tied) for _, tied in groupby(self.order, key=lambda one: self.places[one]))
        return tuple(tied for tied in shared if len(tied) > 1)

    @cached_property
    def tied(self) -> frozenset[str]:
        """Every group that shares its place."""
        return frozenset(group for tied in self.ties for group in tied)


@dataclass(frozen=True)
class Swaps:
    """Pairs of groups that stand the other way round: how many, and which groups are in one.

    `pairs` (ahead, behind) are listed up to `MOST_LISTED`.
    """

    count: int
    pairs: tuple[tuple[str, str], ...]
    groups: frozenset[str]


@dataclass(frozen=True)
class LeftOut:
    """The ranking without one family, and which pairs of groups changed places by it.

    `largest_shift`: the largest factor, of at least 1, by which a group's value moved against
    the others. Groups that lose their only family are in no pair: they are not ranked; nor are
    groups that tie in one of the rankings.
    """

    ranking: Ranking
    swaps: Swaps
    largest_shift: float

    @property
    def swapped(self) -> tuple[tuple[str, str], ...]:
        """The listed pairs (ahead, behind)."""
        return self.swaps.pairs

    @property
    def words(self) -> str:
        """One sentence for people."""
        return self.sentence({})

    def sentence(self, names: Mapping[str, str]) -> str:
        """`words` with the names of groups; a group without one goes by its key."""
        begin = f"Without {self.ranking.without}"
        if not self.ranking.order:
            return f"{begin} nothing is left to normalise by."
        if not self.swapped:
            return f"{begin} the order stays the same."
        shown = [
            f"{names.get(ahead, ahead)} and {names.get(behind, behind)}"
            for ahead, behind in self.swapped[:MOST_NAMED]
        ]
        more = self.swaps.count - len(shown)
        others = f" and {more} more pair{'' if more == 1 else 's'}" if more else ""
        return f"{begin} {', '.join(shown)}{others} change places."


@dataclass(frozen=True)
class Sensitivity:
    """The full ranking and one for each family that any run has."""

    full: Ranking
    left_out: tuple[LeftOut, ...]

    @property
    def robust(self) -> bool:
        """Whether no family alone decides the order of any two groups."""
        return not any(one.swapped for one in self.left_out)


def sensitivity(
    runs: Iterable[RankedRun], reference: Mapping[str, float], indices: Indices | None = None
) -> Sensitivity:
    """Rank groups under `reference` (levels by family), then again without each family.

    Each run has one vote, `run` names it; the order in which runs come does not matter.
    `indices` keeps the runs' speed indices from one cipher to the next under one reference.
    """
    votes = sorted(runs, key=lambda one: one.run)
    names = sorted({vote.group for vote in votes}, key=natural_key)
    known: Indices = {} if indices is None else indices
    full = _rank(votes, names, reference, known, without=None)
    present = {family for vote in votes for family in vote.levels} & reference.keys()
    order = [f for f in FAMILIES if f in present] + sorted(present.difference(FAMILIES))
    rankings = (_rank(votes, names, reference, known, without=family) for family in order)
    return Sensitivity(
        full, tuple(LeftOut(one, _swaps(full, one), _shift(full, one)) for one in rankings)
    )


def _rank(
    votes: Sequence[RankedRun],
    names: Sequence[str],
    reference: Mapping[str, float],
    known: Indices,
    without: str | None,
) -> Ranking:
    yardstick = {family: level for family, level in reference.items() if family != without}
    indices: dict[str, SpeedIndex] = {}
    rates: defaultdict[str, list[float]] = defaultdict(list)
    noises: defaultdict[str, list[float]] = defaultdict(list)
    for vote in votes:
        key = (vote.run, without)
        if key not in known:
            known[key] = speed_index(vote.levels, yardstick)
        speed = known[key]
        if speed is not None:
            indices[vote.run] = speed
            rates[vote.group].append(normalised(vote.throughput, speed))
            noises[vote.group].append(vote.noise)
    values = {group: summarise_group(rates[group]) for group in names if group in rates}
    order = sorted(values, key=lambda group: -values[group].median)
    return Ranking(
        without=without,
        indices=indices,
        values=values,
        order=tuple(order),
        excluded=tuple(vote.run for vote in votes if vote.run not in indices),
        places=_places([(one, values[one].median, median(noises[one])) for one in order]),
    )


def _places(ranked: Iterable[tuple[str, float, float]]) -> dict[str, int]:
    """Places of (group, value, noise), the highest value first; ties share one.

    A group ties with the first of its place when the highest that it may be reaches the lowest
    that the first may be.
    """
    places: dict[str, int] = {}
    place, lowest = 0, math.inf
    for number, (group, value, noise) in enumerate(ranked, start=1):
        if value * (1 + noise) < lowest:
            place, lowest = number, value * (1 - noise)
        places[group] = place
    return places


def _swaps(full: Ranking, other: Ranking) -> Swaps:
    """Pairs in the full order that stand the other way round; a tie is no order."""
    ranked = [group for group in full.order if group in other.values]
    values = {group: -float(other.places[group]) for group in ranked}
    batches = [list(tied) for _, tied in groupby(ranked, key=lambda group: full.places[group])]
    count, pairs = _inversions(batches, values)
    place = {group: number for number, group in enumerate(ranked)}
    listed = sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))
    return Swaps(count, tuple(listed), _moved(batches, values))


def _inversions(
    batches: Sequence[Sequence[str]], values: Mapping[str, float]
) -> tuple[int, list[tuple[str, str]]]:
    """How many pairs of groups of different batches are in falling order; the first of them.

    The groups that have come by are kept sorted by value, so that nobody looks at every pair.
    """
    before: list[tuple[float, str]] = []
    pairs: list[tuple[str, str]] = []
    count = 0
    for batch in batches:
        for group in batch:
            below = bisect_left(before, (values[group], ""))
            count += below
            room = MOST_LISTED - len(pairs)
            pairs += [(ahead, group) for _, ahead in before[: min(below, room)]]
        for group in batch:
            insort(before, (values[group], group))
    return count, pairs


def _moved(batches: Sequence[Sequence[str]], values: Mapping[str, float]) -> frozenset[str]:
    """The groups above one of an earlier batch, and those below one of a later batch."""
    moved: set[str] = set()
    lowest = math.inf
    for batch in batches:
        moved.update(group for group in batch if values[group] > lowest)
        lowest = min(lowest, *(values[group] for group in batch))
    highest = -math.inf
    for batch in reversed(batches):
        moved.update(group for group in batch if values[group] < highest)
        highest = max(highest, *(values[group] for group in batch))
    return frozenset(moved)


def _shift(full: Ranking, other: Ranking) -> float:
    """The largest ratio by which one group moved against all (their geometric mean)."""
    moved = [
        other.values[group].median / full.values[group].median
        for group in full.order
        if group in other.values
    ]
    if not moved:
        return 1.0
    middle = geometric_mean(moved)
    return max(max(one / middle, middle / one) for one in moved)
