"""The chart of a report: bars by group with quartiles, as shapes that a template draws as SVG."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.comparison import Comparison, Group
from exports.palette import cipher_order, colour, colour_slot, short_names
from pages.formatting import quantity

WIDTH = 960
LEFT = 250
RIGHT = 70
ROW = 16
GAP = 12
TOP = 24
TICKS = 6
PAGE = 960
"""Height of the groups of one part: on A4 or Letter, as wide as the page and under the heading."""


@dataclass(frozen=True)
class Bar:
    """One cipher of one group; places in pixels. No whisker for a single machine."""

    y: float
    width: float
    slot: str
    colour: str
    name: str
    value: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class BarGroup:
    """The bars of one group under its name."""

    label: str
    y: float
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Tick:
    """A line of the axis."""

    x: float
    label: str


@dataclass(frozen=True)
class ReportChart:
    """All that is drawn, and how large it is."""

    height: float
    groups: tuple[BarGroup, ...]
    ticks: tuple[Tick, ...]
    width: int = WIDTH
    left: int = LEFT
    top: int = TOP


@dataclass(frozen=True)
class Scale:
    """Value -> pixels from the left edge of the bars: linear from 0, or logarithmic."""

    low: float
    high: float
    logarithmic: bool

    def place(self, value: float) -> float:
        """Where the value is, cut to the chart."""
        if self.logarithmic:
            if value <= 0:
                return 0.0
            span = math.log10(self.high / self.low) or 1.0
            part = math.log10(value / self.low) / span
        else:
            part = value / self.high
        return round(min(max(part, 0.0), 1.0) * (WIDTH - LEFT - RIGHT), 1)

    def ticks(self) -> list[float]:
        """Round values along the axis."""
        if self.logarithmic:
            first, last = round(math.log10(self.low)), math.ceil(math.log10(self.high))
            return [10.0**power for power in range(first, last + 1) if 10.0**power <= self.high]
        step = 10.0 ** math.floor(math.log10(self.high / TICKS))
        step = next(step * one for one in (1, 2, 5, 10) if self.high / (step * one) <= TICKS)
        return [step * number for number in range(int(self.high / step) + 1)]


def _scale(groups: tuple[Group, ...], logarithmic: bool) -> Scale | None:
    ends = [
        value
        for group in groups
        for summary in group.values.values()
        for value in (summary.q1, summary.q3)
        if value > 0
    ]
    if not ends:
        return None
    # A tick a little below the lowest: its bar has a length then.
    return Scale(10.0 ** math.floor(math.log10(min(ends) * 0.999)), max(ends), logarithmic)


def report_charts(
    comparison: Comparison, groups: tuple[Group, ...], *, logarithmic: bool
) -> tuple[ReportChart, ...]:
    """The chart of these groups in their order, in parts that fit a page; none without a value."""
    scale = _scale(groups, logarithmic)
    if scale is None:
        return ()
    return tuple(_part(comparison, part, scale) for part in _parts(groups))


def _parts(groups: tuple[Group, ...]) -> Iterator[tuple[Group, ...]]:
    """As many groups at once as a page has room for, one at least."""
    part: list[Group] = []
    height = 0
    for group in groups:
        height += _height(group)
        if part and height > PAGE:
            yield tuple(part)
            part, height = [], _height(group)
        part.append(group)
    if part:
        yield tuple(part)


def _height(group: Group) -> int:
    return (len(group.values) + 1) * ROW + GAP


def _part(comparison: Comparison, groups: tuple[Group, ...], scale: Scale) -> ReportChart:
    names = short_names(comparison.ciphers)
    drawn, y = [], float(TOP)
    for group in groups:
        ciphers = sorted(group.values, key=cipher_order)
        bars = tuple(
            _bar(group, cipher, names[cipher], y + (place + 1) * ROW, comparison.unit, scale)
            for place, cipher in enumerate(ciphers)
        )
        drawn.append(BarGroup(group.label, y, bars))
        y += _height(group)
    ticks = tuple(
        Tick(LEFT + scale.place(value), quantity(value, comparison.unit)) for value in scale.ticks()
    )
    return ReportChart(y, tuple(drawn), ticks)


def _bar(group: Group, cipher: str, name: str, y: float, unit: str, scale: Scale) -> Bar:
    summary = group.values[cipher]
    several = summary.n > 1
    return Bar(
        y=y,
        width=scale.place(summary.median),
        slot=colour_slot(cipher),
        colour=colour(cipher),
        name=name,
        value=quantity(summary.median, unit),
        low=LEFT + scale.place(summary.q1) if several else None,
        high=LEFT + scale.place(summary.q3) if several else None,
    )
