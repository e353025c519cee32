"""Leave one baseline family out: does the ranking change? (docs/method.md, section 2)

The yardstick is an approximation. Where the order of groups depends on one of its three
families, it should not be believed; where it does not, the reader may be told so.
"""

import math
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from statistics import geometric_mean, median

from analysis.comparison import natural_key
from analysis.groups import GroupSummary, summarise_group
from analysis.profiles.baselines import FAMILIES, SpeedIndex, normalised, speed_index

MOST_LISTED = 200
"""Of more pairs only so many are listed; thousands of hosts have millions of pairs."""

MOST_NAMED = 5
"""Of more pairs that change places a sentence names these and counts the others."""

Indices = dict[tuple[str, str | None], SpeedIndex | None]
"""(run, family left out) -> its speed index; None when no family is left."""


Bounds = Mapping[str, tuple[float, float]]
"""Group -> the lowest and the highest that its value may be."""


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

    `without` is the family left out, None for the full yardstick. `excluded`: runs that this
    yardstick cannot normalise. `bounds`: the lowest and the highest that a group's value may be by
    the noise of its throughputs. `places`: from 1 on; groups that noise does not tell apart share
    one.
    """

    without: str | None
    values: Mapping[str, GroupSummary]
    order: tuple[str, ...]
    excluded: tuple[str, ...]
    bounds: Bounds
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
    two groups that noise does not tell apart in one of the rankings.
    """

    ranking: Ranking
    swaps: Swaps
    largest_shift: float

    @property
    def swapped(self) -> tuple[tuple[str, str], ...]:
        """The listed pairs (ahead, behind)."""
        return self.swaps.pairs

    def sentence(self, names: Mapping[str, str]) -> str:
        """One sentence for people, by the names of groups; one without a name goes by its key."""
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
    order = (family for family in FAMILIES if family in present)
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
    rates: defaultdict[str, list[float]] = defaultdict(list)
    noises: defaultdict[str, list[float]] = defaultdict(list)
    for vote in votes:
        key = (vote.run, without)
        if key not in known:
            known[key] = speed_index(vote.levels, yardstick)
        speed = known[key]
        if speed is not None:
            rates[vote.group].append(normalised(vote.throughput, speed))
            noises[vote.group].append(vote.noise)
    values = {group: summarise_group(rates[group]) for group in names if group in rates}
    order = sorted(values, key=lambda group: -values[group].median)
    bounds = {group: _bounds(values[group].median, median(noises[group])) for group in order}
    return Ranking(
        without=without,
        values=values,
        order=tuple(order),
        excluded=tuple(vote.run for vote in votes if known[vote.run, without] is None),
        bounds=bounds,
        places=_places(bounds),
    )


def _bounds(value: float, noise: float) -> tuple[float, float]:
    return value * (1 - noise), value * (1 + noise)


def _places(bounds: Bounds) -> dict[str, int]:
    """Places of groups, the highest value first; ties share one.

    A group ties with the first of its place when the highest that it may be reaches the lowest
    that the first may be.
    """
    places: dict[str, int] = {}
    place, least = 0, math.inf
    for number, (group, (low, high)) in enumerate(bounds.items(), start=1):
        if high < least:
            place, least = number, low
        places[group] = place
    return places


def _swaps(full: Ranking, other: Ranking) -> Swaps:
    """Pairs that noise tells apart in both rankings, and that stand the other way round."""
    ranked = [group for group in full.order if group in other.values]
    before = {group: full.bounds[group] for group in ranked}
    after = {group: other.bounds[group] for group in ranked}
    count, pairs = _inversions(before, after)
    number = {group: at for at, group in enumerate(ranked)}
    listed = sorted(pairs, key=lambda pair: (number[pair[0]], number[pair[1]]))
    return Swaps(count, tuple(listed), _moved(before, after))


def _inversions(before: Bounds, after: Bounds) -> tuple[int, list[tuple[str, str]]]:
    """Number of pairs (ahead, behind) of `before` whose order `after` reverses, with the first few.

    Groups that are certainly behind stay sorted by their lowest bound in `after`, so the search
    does not visit every pair.
    """
    waiting = sorted(before, key=lambda group: before[group][1], reverse=True)
    behind: list[tuple[float, str]] = []
    pairs: list[tuple[str, str]] = []
    count = 0
    for ahead in sorted(before, key=lambda group: before[group][0]):
        while waiting and before[waiting[-1]][1] < before[ahead][0]:
            group = waiting.pop()
            insort(behind, (after[group][0], group))
        first = bisect_right(behind, after[ahead][1], key=lambda one: one[0])
        count += len(behind) - first
        room = MOST_LISTED - len(pairs)
        pairs += [(ahead, group) for _, group in behind[first : first + room]]
    return count, pairs


def _moved(before: Bounds, after: Bounds) -> frozenset[str]:
    """The groups that are in such a pair, ahead or behind."""
    falling = _overtaken(before, after)
    return frozenset(falling | _overtaken(_upside_down(before), _upside_down(after)))


def _overtaken(before: Bounds, after: Bounds) -> set[str]:
    """The groups that are ahead in such a pair: one that was certainly behind passes them."""
    waiting = sorted(before, key=lambda group: before[group][1], reverse=True)
    highest = -math.inf
    overtaken: set[str] = set()
    for ahead in sorted(before, key=lambda group: before[group][0]):
        while waiting and before[waiting[-1]][1] < before[ahead][0]:
            highest = max(highest, after[waiting.pop()][0])
        if after[ahead][1] < highest:
            overtaken.add(ahead)
    return overtaken


def _upside_down(bounds: Bounds) -> dict[str, tuple[float, float]]:
    """The same with the last first: who is behind is ahead."""
    return {group: (-high, -low) for group, (low, high) in bounds.items()}


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
