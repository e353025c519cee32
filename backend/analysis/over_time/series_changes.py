"""Changes in one host's history of one series (docs/method.md, section 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from analysis.summary import relative_spread

START_UP_SECONDS = 0.1
"""The first tenth of a second of a stream is slow, on every machine about as long."""


def start_up_difference(seconds: float | None, others: float | None) -> float:
    """By how much tries of these lengths differ in rate on one machine, as a fraction.

    0 where a length is not known: nothing is known to differ then.
    """
    if not seconds or not others:
        return 0.0
    return abs(_share(seconds) - _share(others))


def _share(seconds: float) -> float:
    return min(1.0, START_UP_SECONDS / seconds)


WINDOW = 10
"""Runs before the latest that it is compared with, at most."""

SMALLEST_CHANGE = 0.05
SPREADS = 4
"""A change differs by more than max(5 %, 4 spreads of the window)."""

HOLDS_FOR = 2
"""Runs that must show a change before it is confirmed."""

TELLING_WINDOW = 3
"""Runs whose scatter can be told; before fewer, no change is confirmed."""

Direction = Literal["faster", "slower", "cheaper", "dearer"]


@dataclass(frozen=True)
class Change:
    """A step in a history, at the run `index` (0 is the oldest).

    `before`: median of the window, `after`: median of the runs that show it, both in the
    series' unit; `ratio` = after / before. `threshold`: the relative difference it had to
    exceed. `window`: runs compared with. `doubt`: why it is unconfirmed, None if confirmed.
    """

    index: int
    before: float
    after: float
    ratio: float
    threshold: float
    window: int
    direction: Direction
    doubt: str | None

    @property
    def confirmed(self) -> bool:
        return self.doubt is None

    @property
    def words(self) -> str:
        """One sentence for people, with the figures it rests on."""
        runs = "the run" if self.window == 1 else f"the median of {self.window} runs"
        sentence = (
            f"{abs(self.ratio - 1):.1%} {self.direction} than {runs} before"
            f" (a change is more than {self.threshold:.1%})".replace("%", " %")
        )
        return sentence + (f"; unconfirmed: {self.doubt}." if self.doubt else ".")


class _Value(NamedTuple):
    """A run's median, and the seconds that a try took where that matters."""

    median: float
    seconds: float | None


@dataclass(frozen=True)
class _Window:
    """What a run is compared with: median, and the relative difference that is a change."""

    middle: float
    seconds: float | None
    difference: float
    runs: int

    def threshold(self, value: _Value) -> float:
        """The relative difference that is a change, which tries of other lengths alone make not."""
        return self.difference + start_up_difference(value.seconds, self.seconds)

    def step(self, value: _Value) -> int:
        """1 for a change upwards, -1 downwards, 0 for none."""
        difference = value.median - self.middle
        limit = self.threshold(value) * self.middle
        return 0 if abs(difference) <= limit else (-1, 1)[difference > 0]


def find_changes(
    history: Sequence[float],
    *,
    seconds: Sequence[float | None] = (),
    lower_is_better: bool = False,
) -> tuple[Change, ...]:
    """The changes in a history, oldest run first; each value a run's median, above zero.

    A run is compared with the up to 10 before it, back to the last change and no further.
    One that differs by more than max(5 %, 4 x spread of these) and is followed by another that
    differs from the same runs in the same direction is a change. Alone, with others after it,
    it was noise; as the latest run it is a change not yet confirmed. With fewer than three runs
    before it nobody knows how far they scatter: it must last to this day, and stays unconfirmed.
    A drift slower than the window's own scatter is not found: this looks for steps.
    `lower_is_better` for costs, whose directions are called cheaper and dearer. `seconds`: how
    long a try of each run took, of rates that depend on it; what another length alone makes of a
    rate is no change.
    """
    if any(not value > 0 for value in history):
        raise ValueError("a history has values above zero only")
    lengths = seconds or [None] * len(history)
    values = [_Value(*one) for one in zip(history, lengths, strict=True)]
    found: list[Change] = []
    start, compared = 0, 1
    while compared < len(values):
        window = _window(values[max(start, compared - WINDOW) : compared])
        held = _held(window, values[compared:])
        if _is_change(window, held, left=len(values) - compared):
            shown = values[compared : compared + min(held, HOLDS_FOR)]
            found.append(_change(compared, window, shown, _doubt(window, held), lower_is_better))
            # The runs that show the change are the new level's first.
            start, compared = compared, compared + min(held, HOLDS_FOR)
        else:
            compared += 1
    return tuple(found)


def _window(before: Sequence[_Value]) -> _Window:
    medians = [one.median for one in before]
    lengths = [one.seconds for one in before if one.seconds]
    difference = max(SMALLEST_CHANGE, SPREADS * relative_spread(medians))
    return _Window(median(medians), median(lengths) if lengths else None, difference, len(before))


def _held(window: _Window, values: Sequence[_Value]) -> int:
    """How many values from the first on take the first one's step; 0 if that is none."""
    step = window.step(values[0])
    if not step:
        return 0
    steps = (window.step(value) for value in values)
    return next((i for i, other in enumerate(steps) if other != step), len(values))


def _is_change(window: _Window, held: int, left: int) -> bool:
    """Whether a step that `held` for so many of the runs `left` is one."""
    lasts = held == left
    return held > 0 and (lasts or (held >= HOLDS_FOR and window.runs >= TELLING_WINDOW))


def _doubt(window: _Window, held: int) -> str | None:
    if held < HOLDS_FOR:
        return "one run shows it so far"
    if window.runs < TELLING_WINDOW:
        return "too few runs before it to know how far they scatter"
    return None


def _change(
    index: int, window: _Window, shown: Sequence[_Value], doubt: str | None, lower_is_better: bool
) -> Change:
    after = median(one.median for one in shown)
    ratio = after / window.middle
    words: tuple[Direction, Direction] = (
        ("dearer", "cheaper") if lower_is_better else ("faster", "slower")
    )
    return Change(
        index=index,
        before=window.middle,
        after=after,
        ratio=ratio,
        threshold=window.threshold(shown[0]),
        window=window.runs,
        direction=words[0] if ratio > 1 else words[1],
        doubt=doubt,
    )
