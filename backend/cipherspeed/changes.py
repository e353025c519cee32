"""Detect lasting changes of speed in the runs of a host (docs/method.md, section 5)."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log, prod
from statistics import median
from typing import Generic, NamedTuple, TypeVar

from cipherspeed.summary import relative_spread

K = TypeVar("K", bound=Hashable)

WINDOW = 10
"""Maximum number of runs for computing the speed before a step, and the speed after a step."""

SMALLEST_CHANGE = 0.05
SPREADS = 4
"""Minimum size of a step, as a multiple of the spread between runs. See `SMALLEST_CHANGE`."""

LASTS = 2
"""Minimum number of runs at the old speed, and minimum number of runs at the new speed."""

TELLING_WINDOW = 3
"""Minimum number of runs for an estimate of the variation between runs."""

START_UP_SECONDS = 0.1
"""Duration of the slow start of an ssh transfer, about the same on every host."""


class Observation(NamedTuple):
    """Summarise the tries of a series in one run.

    `spread`: a fraction of the median. `seconds`: duration of a try, or None if the duration does
    not affect the rate.
    """

    median: float
    spread: float = 0.0
    seconds: float | None = None


RunOf = Mapping[K, Observation]


@dataclass(frozen=True)
class Step(Generic[K]):
    """Describe a lasting change that begins at run `index` (0 is the oldest run).

    `threshold`: relative difference that the step exceeds. `window`: number of earlier runs from
    which the old speed is computed. `before`, `after`: median of each series before and after.
    """

    index: int
    threshold: float
    window: int
    before: Mapping[K, float]
    after: Mapping[K, float]

    @property
    def ratios(self) -> dict[K, float]:
        return {key: after / self.before[key] for key, after in self.after.items()}

    @property
    def ratio(self) -> float:
        return median(self.ratios.values())

    @property
    def confidence(self) -> str:
        if self.window < TELLING_WINDOW:
            return "low"
        return "high" if abs(self.ratio - 1) >= 2 * self.threshold else "medium"


def find_steps(history: Sequence[RunOf[K]]) -> list[Step[K]]:
    """Return the lasting changes in a history that begins with the oldest run.

    At a step, two consecutive runs are both faster, or both slower, than the median of up to 10
    earlier runs by more than max(5 %, 4 spreads). A step is discarded if later runs are within 5 %
    of the old speed.
    """
    steps: list[Step[K]] = []
    start, at = 0, LASTS
    while at + LASTS <= len(history):
        step = _step_at(history, start, at)
        if step is None:
            at += 1
        else:
            steps.append(step)
            start, at = step.index, max(at, step.index + LASTS)
    return list(_lasting(history, steps))


def _step_at(history: Sequence[RunOf[K]], start: int, at: int) -> Step[K] | None:
    window, shown = history[max(start, at - WINDOW) : at], history[at : at + LASTS]
    before = _medians(window, shown[0].keys())
    new = list(_relative_levels(shown, before))
    levels = list(_relative_levels(window, before))
    if min(len(new), len(levels)) < LASTS or not _beyond(new, SMALLEST_CHANGE):
        return None
    spread = relative_spread(levels)
    if len(levels) < TELLING_WINDOW:
        tries = median(run[key].spread for run in window for key in before if key in run)
        spread = max(tries, spread, relative_spread(new))
    threshold = max(SMALLEST_CHANGE, SPREADS * spread) + _start_up_allowance(
        window, shown[0], before
    )
    if not _beyond(new, threshold):
        return None
    first, middle = at, median(new)
    while first - 1 >= start + LASTS and _nearer(history[first - 1], before, middle):
        first -= 1
    return Step(first, threshold, len(levels), before, {})


def _medians(runs: Sequence[RunOf[K]], keys: Iterable[K]) -> dict[K, float]:
    values = {key: [run[key].median for run in runs if key in run] for key in keys}
    return {key: median(of_key) for key, of_key in values.items() if of_key}


def _relative_levels(runs: Iterable[RunOf[K]], before: Mapping[K, float]) -> Iterator[float]:
    for run in runs:
        ratios = [run[key].median / middle for key, middle in before.items() if key in run]
        if ratios:
            yield median(ratios)


def _beyond(levels: Sequence[float], threshold: float) -> bool:
    return min(levels) > 1 + threshold or max(levels) < 1 - threshold


def _nearer(run: RunOf[K], before: Mapping[K, float], new: float) -> bool:
    return any(abs(level - new) < abs(level - 1) for level in _relative_levels([run], before))


def _start_up_allowance(
    window: Sequence[RunOf[K]], run: RunOf[K], before: Mapping[K, float]
) -> float:
    differences = []
    for key in before:
        lengths = [run[key].seconds for run in window if key in run and run[key].seconds]
        usual = median(filter(None, lengths)) if lengths else None
        differences.append(start_up_difference(run[key].seconds, usual))
    return median(differences)


def start_up_difference(seconds: float | None, others: float | None) -> float:
    """Return the relative difference between two results that different try durations cause.

    The slow start of a transfer causes this difference: |0.1 / seconds - 0.1 / others|. Return 0 if
    a duration is unknown.
    """
    if not seconds or not others:
        return 0.0
    share, other = (min(1.0, START_UP_SECONDS / length) for length in (seconds, others))
    return abs(share - other)


def _lasting(history: Sequence[RunOf[K]], steps: Sequence[Step[K]]) -> Iterator[Step[K]]:
    start = 0
    ends = [step.index for step in steps[1:]] + [len(history)]
    for step, end in zip(steps, ends, strict=False):
        first = step.index
        before = _medians(history[max(start, first - WINDOW) : first], history[first].keys())
        after = _medians(history[first : min(end, first + WINDOW)], before)
        sized = replace(step, before=before, after=after)
        if abs(sized.ratio - 1) > SMALLEST_CHANGE:
            start = first
            yield sized


def taken_back(ratios: Sequence[float]) -> list[int | None]:
    """Return, for each step, the index of the later step that restores the old speed, or None.

    `ratios`: new speed divided by old speed, for each step. A restored speed may differ by 5 %.
    """
    return [
        next(
            (
                end
                for end in range(first + 1, len(ratios))
                if abs(log(prod(ratios[first : end + 1]))) <= log(1 + SMALLEST_CHANGE)
            ),
            None,
        )
        for first in range(len(ratios))
    ]


def verdict_changes(verdicts: Sequence[str]) -> list[int]:
    """Return the index of each changed verdict that is followed by an equal verdict."""
    positions = []
    level = verdicts[0] if verdicts else ""
    for at, (verdict, confirming) in enumerate(pairwise(verdicts)):
        if verdict == confirming != level:
            positions.append(at)
            level = verdict
    return positions
