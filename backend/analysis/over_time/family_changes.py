"""Changes of whole cipher families of one host, as its runs arrive (docs/method.md, section 5).

One series of a noisy host hides a change of a few per cent. The series of a family scatter each by
itself, so that the median of their ratios shows what all of them have in common.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log, sqrt
from statistics import median
from typing import Any, Self

from analysis.over_time.series_changes import (
    SMALLEST_CHANGE,
    TELLING_WINDOW,
    WINDOW,
    start_up_difference,
)
from analysis.summary import MEDIAN_TO_MEAN, median_of_sorted

SHOWN_BY = 6
"""Runs that may together show a change which two are too few for, at most."""

CONFIRMED_BY = 2

LASTS = 3
"""Runs that a change must last for where the library did not change with it: what slows a shared
machine for a while often slows two runs in a row."""

LEAST_STEP = log(1 + SMALLEST_CHANGE)

STANDARD_ERRORS = 4.5
"""A change differs by more than max(5 %, 4.5 standard errors of the difference of two medians)."""

MEDIAN_OF_DIFFERENCES = 0.9539
"""The median of |x - y| of two normal values of standard deviation 1: 0.6745 * sqrt(2)."""

SEVERAL_LIBRARIES = 3
"""Changes of library among the recent runs that no sequence of upgrades makes: the host is measured
with several builds in turn, each of which is compared with itself."""

EXPECTED = 0.75
"""Of the distances that are left, where the library changed: in noise a run earlier or later often
fits as well."""

_DECIMALS = 5
"""Of logarithms in a state: a hundred-thousandth of a rate."""

Family = str
"""Tool and family, such as "ssh aes-gcm" (`analysis.ciphers.cipher_catalogue`)."""


@dataclass(frozen=True)
class ObservedRun:
    """An undisturbed run, by a key of the caller's.

    `rates`: series -> its median in bytes per second, of the series that count; `renewed`: those
    that cannot be compared with earlier runs, because the tool changed. `library`: tool -> what it
    was linked with.
    """

    key: int
    rates: Mapping[int, float]
    library: Mapping[str, str]
    renewed: Collection[int] = ()


@dataclass(frozen=True)
class Step:
    """A family's level changed at the run `first`; `shown` are the runs from there on.

    `before`: keys of the up to 10 runs that it is compared with. `confirmed`: it has lasted.
    """

    family: Family
    first: int
    shown: tuple[int, ...]
    before: tuple[int, ...]
    confirmed: bool


@dataclass
class _Seen:
    """What is kept of a run: logarithms of the families' levels against the references.

    `noise`: tool -> the typical difference of a series from the run before.
    """

    key: int
    library: Mapping[str, str]
    levels: dict[Family, float]
    noise: dict[str, float]


@dataclass
class Watch:
    """What must be known of a host's runs so far to tell whether the next one shows a change.

    `references` and `last` are logarithms of rates by series; `starts` the first run of each
    family's present level.
    """

    references: dict[int, float] = field(default_factory=dict)
    last: dict[int, float] = field(default_factory=dict)
    recent: list[_Seen] = field(default_factory=list)
    starts: dict[Family, int] = field(default_factory=dict)

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Self:
        """A watch as JSON has it, whose keys are texts."""
        return cls(
            references={int(one): value for one, value in state["references"].items()},
            last={int(one): value for one, value in state["last"].items()},
            recent=[_Seen(**one) for one in state["recent"]],
            starts=dict(state["starts"]),
        )

    def observe(self, run: ObservedRun, families: Mapping[int, Family]) -> list[Step]:
        """Take a run in that is later than all before; the changes that it shows.

        The latest 2 to 6 runs show a change where they differ from the up to 10 before by more than
        max(5 %, 4.5 standard errors). Three of them confirm it, two where the library changed with
        it; fewer, or the latest alone, suggest it. Fewer than three runs before tell too little.
        `ValueError` for a rate that is not above zero.
        """
        counted = {one: rate for one, rate in run.rates.items() if one in families}
        if any(not rate > 0 for rate in counted.values()):
            raise ValueError("a history has values above zero only")
        logs = {one: round(log(rate), _DECIMALS) for one, rate in counted.items()}
        levels, series = self._levels(run, logs, families)
        self.recent.append(_Seen(run.key, dict(run.library), levels, self._noise(logs, families)))
        self.last.update(logs)
        del self.recent[: -(WINDOW + SHOWN_BY)]
        steps = [self._newest(family, series[family]) for family in levels]
        found = [one for one in steps if one]
        self.starts.update({one.family: one.first for one in found if one.confirmed})
        return found

    def _levels(
        self, run: ObservedRun, logs: Mapping[int, float], families: Mapping[int, Family]
    ) -> tuple[dict[Family, float], dict[Family, int]]:
        """The level of each family in this run, and the number of series behind it.

        A series that is new begins where its family is.
        """
        for one in run.renewed:
            self.references.pop(one, None)
        known: defaultdict[Family, list[float]] = defaultdict(list)
        new: defaultdict[Family, list[int]] = defaultdict(list)
        for one, value in logs.items():
            if one in self.references:
                known[families[one]].append(value - self.references[one])
            else:
                new[families[one]].append(one)
        levels = {family: median_of_sorted(sorted(found)) for family, found in known.items()}
        for family, found in new.items():
            if family not in levels:
                levels[family] = 0.0
                self.starts[family] = run.key
            for one in found:
                self.references[one] = round(logs[one] - levels[family], _DECIMALS)
        series = {family: len(known[family]) or len(new[family]) for family in levels}
        return {family: round(one, _DECIMALS) for family, one in levels.items()}, series

    def _noise(self, logs: Mapping[int, float], families: Mapping[int, Family]) -> dict[str, float]:
        """Of neighbours, a step makes one difference large: the median of all does not see it."""
        differences: defaultdict[str, list[float]] = defaultdict(list)
        for one, value in logs.items():
            if one in self.last:
                tool = families[one].split(" ")[0]
                differences[tool].append(abs(value - self.last[one]))
        return {tool: round(_median(found), _DECIMALS) for tool, found in differences.items()}

    def _newest(self, family: Family, series: int) -> Step | None:
        runs = self._comparable(family)
        levels = [one.levels[family] for one in runs]
        if len(levels) <= TELLING_WINDOW or max(levels) - min(levels) <= LEAST_STEP:
            return None
        noise = self._noise_of(family, levels, series)
        shown_by = range(CONFIRMED_BY, SHOWN_BY + 1)
        if any(_differs(levels, shown, noise) for shown in shown_by):
            tool = family.split(" ")[0]
            libraries = [one.library.get(tool) for one in runs]
            first = _cut(levels, libraries)
            lasts = CONFIRMED_BY if libraries[first - 1] != libraries[first] else LASTS
        elif _differs(levels, 1, noise):
            first, lasts = len(levels) - 1, LASTS
        else:
            return None
        held = _held(levels, first)
        confirmed = sum(held) >= lasts
        if not confirmed and not held[-1]:
            return None
        keys = tuple(one.key for one in runs)
        before = keys[max(0, first - WINDOW) : first]
        return Step(family, keys[first], keys[first:], before, confirmed)

    def _comparable(self, family: Family) -> list[_Seen]:
        """The runs that have the family, from the beginning of its present level on."""
        having = [one for one in self.recent if family in one.levels]
        start = self.starts.get(family)
        begin = next((at for at, one in enumerate(having) if one.key == start), 0)
        having = having[begin:]
        tool = family.split(" ")[0]
        libraries = [one.library.get(tool) for one in having]
        if sum(a != b for a, b in pairwise(libraries)) < SEVERAL_LIBRARIES:
            return having
        return [one for one in having if one.library.get(tool) == libraries[-1]]

    def _noise_of(self, family: Family, levels: Sequence[float], series: int) -> float:
        """By how much the family scatters from run to run: as seen, and at least as its series."""
        tool = family.split(" ")[0]
        own = _median(abs(b - a) for a, b in pairwise(levels))
        of_series = _median(one.noise[tool] for one in self.recent if tool in one.noise)
        return max(own, of_series / sqrt(series)) / MEDIAN_OF_DIFFERENCES


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return median_of_sorted(ordered) if ordered else 0.0


def _differs(levels: Sequence[float], shown: int, noise: float) -> bool:
    """Whether the latest runs, so many, differ from the up to 10 before them."""
    first = len(levels) - shown
    before = levels[max(0, first - WINDOW) : max(0, first)]
    if len(before) < TELLING_WINDOW:
        return False
    error = noise * MEDIAN_TO_MEAN * sqrt(1 / shown + 1 / len(before))
    return abs(_step(before, levels[first:])) > max(LEAST_STEP, STANDARD_ERRORS * error)


def _step(before: Sequence[float], shown: Sequence[float]) -> float:
    """The logarithm of after / before; of the two middle runs after, the one that says less."""
    middle = _median(before)
    ordered = sorted(one - middle for one in shown)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    low, high = ordered[half - 1], ordered[half]
    return 0.0 if low * high <= 0 else min(low, high, key=abs)


def _held(levels: Sequence[float], first: int) -> list[bool]:
    """Of the runs from the first on, which are nearer to their own level than to the one before."""
    before = _median(levels[max(0, first - WINDOW) : first])
    step = _median(levels[first:]) - before
    return [(one - before) * step > step * step / 2 for one in levels[first:]]


def _cut(levels: Sequence[float], libraries: Sequence[str | None]) -> int:
    """Where two levels explain the runs best: by the sum of the distances from their medians.

    Where the library changed, a little more than that sum elsewhere will do. A small change in much
    noise is seen late, so that more runs may show it than it was seen by. Two runs before are
    enough here: soon after another change there are no more, and the next one already shows this.
    """

    def cost(at: int) -> float:
        expected = libraries[at - 1] != libraries[at]
        distances = _distances(levels[:at]) + _distances(levels[at:])
        return distances * (EXPECTED if expected else 1)

    last = len(levels) - CONFIRMED_BY
    return min(range(max(CONFIRMED_BY, len(levels) - WINDOW), last + 1), key=cost)


def _distances(levels: Sequence[float]) -> float:
    middle = _median(levels)
    return sum(abs(one - middle) for one in levels)


Figures = Sequence[tuple[float, float | None]]
"""Of one series: its median in each run, and the seconds that a try took, where that matters."""


@dataclass(frozen=True)
class Size:
    """How large a step is: after / before, the median over the series.

    `agreeing` of the `series` differ by more than half of it in its direction. `example`: which of
    the sides that were given shows it most exactly.
    """

    ratio: float
    series: int
    agreeing: int
    example: int


def size_of(sides: Iterable[tuple[Figures, Figures]]) -> Size | None:
    """The size of a step by what each series was before and after it.

    None where no series has both, where the series themselves do not show 5 %, or where tries of
    other lengths alone make as much of the rates.
    """
    both = {at: side for at, side in enumerate(sides) if all(side)}
    if not both:
        return None
    ratios = {
        at: median(one for one, _ in after) / median(one for one, _ in before)
        for at, (before, after) in both.items()
    }
    ratio = median(ratios.values())
    allowed = median(_allowance(*one) for one in both.values())
    if abs(log(ratio)) <= LEAST_STEP + allowed:
        return None
    agreeing = sum(log(one) / log(ratio) > 0.5 for one in ratios.values())
    example = min(ratios, key=lambda at: abs(ratios[at] - ratio))
    return Size(ratio, len(ratios), agreeing, example)


def _allowance(before: Figures, after: Figures) -> float:
    old, new = ([seconds for _, seconds in side if seconds] for side in (before, after))
    return start_up_difference(median(old), median(new)) if old and new else 0.0


def fixed_by(ratios: Sequence[float]) -> tuple[int | None, ...]:
    """For each of a family's changes, oldest first, the later one that took it back, if any.

    Taken back: the level is within 5 % of what it was before the change.
    """
    found: list[int | None] = []
    for first in range(len(ratios)):
        level, by = ratios[first], None
        for later in range(first + 1, len(ratios)):
            level *= ratios[later]
            if abs(log(level)) <= LEAST_STEP:
                by = later
                break
        found.append(by)
    return tuple(found)


def verdict_changes(verdicts: Sequence[str]) -> tuple[tuple[int, bool], ...]:
    """Where a sequence of known verdicts changes, oldest first, and whether a second run says so.

    A single run between two of the other verdict was no change; as the latest it is unconfirmed.
    """
    found: list[tuple[int, bool]] = []
    level, at = verdicts[:1], 1
    while at < len(verdicts):
        now = verdicts[at : at + CONFIRMED_BY]
        if list(now[:1]) == list(level):
            at += 1
            continue
        if len(now) < CONFIRMED_BY:
            found.append((at, False))
        elif now[0] == now[1]:
            found.append((at, True))
            level = now[:1]
        at += 1
    return tuple(found)
