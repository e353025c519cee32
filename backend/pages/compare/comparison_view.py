"""A comparison made ready to show: ordered, cut to size, with bars for its table and its chart."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from analysis import group_view
from analysis.comparison import Comparison, Group
from analysis.groups import GroupSummary
from exports.palette import cipher_order, colour_slot, short_names
from pages.compare.tool_break_note import after_a_break
from pages.formatting import exact, factor, quantity, quantity_range
from pages.page_query import Display

MAX_CHART_BARS = 600
"""More bars than this make a canvas taller than phones allow; the table has all of them."""

MEASURED = "agent"
PUBLISHED = "published"


@dataclass(frozen=True)
class Bar:
    """A small bar in a table: ends in per cent of the row's width; no whisker for one machine."""

    end: float
    low: float | None
    high: float | None

    @property
    def whisker(self) -> str:
        """The path of the whisker in a box of 100 x 10."""
        low, high = self.low, self.high
        if low is None or high is None:
            return ""
        return f"M{low} 5H{high}M{low} 2.5V7.5M{high} 2.5V7.5"


@dataclass(frozen=True)
class Row:
    """One cipher of one group, as text and as exact values."""

    cipher: str
    slot: str
    summary: GroupSummary
    median: str
    exact_median: str
    quartiles: str
    extremes: str
    uncertainty: str
    doubt: str
    bar: Bar


@dataclass(frozen=True)
class ShownGroup:
    """A group with its rows; `here`: it is marked as measured by an agent of this site."""

    key: str
    label: str
    machines: str
    here: bool
    published: bool
    rows: tuple[Row, ...]


def ordered_groups(comparison: Comparison, display: Display) -> tuple[Group, ...]:
    """The groups in the order that the reader asked for; groups without a value come last."""
    return group_view.ordered_groups(comparison, display.sort)


def shown_groups(comparison: Comparison, display: Display) -> tuple[ShownGroup, ...]:
    """The groups of the table, at most `display.top` of them."""
    groups = ordered_groups(comparison, display)[: display.top]
    here = measured_here(comparison)
    place = _bar_scale(groups, display.scale)
    ciphers = sorted(comparison.ciphers, key=cipher_order)
    return tuple(
        ShownGroup(
            group.key,
            group.label,
            hosts_note(group),
            group.key in here,
            PUBLISHED in group.sources,
            tuple(
                _row(group, cipher, comparison.unit, place)
                for cipher in ciphers
                if cipher in group.values
            ),
        )
        for group in groups
    )


def _row(group: Group, cipher: str, unit: str, place: Callable[[float], float]) -> Row:
    summary = group.values[cipher]
    several = summary.n > 1
    uncertainty = group.uncertainty.get(cipher)
    return Row(
        cipher=cipher,
        slot=colour_slot(cipher),
        summary=summary,
        median=quantity(summary.median, unit),
        exact_median=exact(summary.median, unit),
        quartiles=quantity_range(summary.q1, summary.q3, unit) if several else "",
        extremes=quantity_range(summary.minimum, summary.maximum, unit) if several else "",
        uncertainty="" if uncertainty is None else factor(uncertainty),
        doubt=doubt_words(group, cipher),
        bar=Bar(
            place(summary.median),
            place(summary.q1) if several else None,
            place(summary.q3) if several else None,
        ),
    )


def doubt_words(group: Group, cipher: str) -> str:
    """ "low confidence", or "1 of 3 low confidence" for several hosts; or empty."""
    return doubtful_of(group.doubtful.get(cipher, 0), group.values[cipher].n)


def doubtful_of(doubtful: int, n: int) -> str:
    """So many of the `n` hosts behind a figure, in words; empty for none."""
    if not doubtful:
        return ""
    return "low confidence" if n == 1 else f"{doubtful} of {n} low confidence"


def _bar_scale(groups: tuple[Group, ...], scale: str) -> Callable[[float], float]:
    """Value -> per cent of the width: linear from 0, or logarithmic from the power of ten below."""
    ends = [
        value
        for group in groups
        for summary in group.values.values()
        for value in (summary.q1, summary.q3)
        if value > 0
    ]
    if not ends:
        return lambda value: 0.0
    low, high = min(ends), max(ends)
    if scale != "log":
        return lambda value: round(100 * max(value, 0) / high, 2)
    floor = math.floor(math.log10(low * 0.999))
    span = max(math.log10(high) - floor, 1e-9)
    return lambda value: round(100 * (math.log10(value) - floor) / span, 2) if value > 0 else 0.0


def comparison_json(comparison: Comparison, groups: tuple[Group, ...]) -> dict[str, Any]:
    """These groups of the comparison in the shape of the API's answer."""
    return {
        "tool": comparison.tool,
        "group_by": comparison.group_by,
        "metric": comparison.metric,
        "unit": comparison.unit,
        "profile": comparison.profile,
        "ciphers": sorted(comparison.ciphers, key=cipher_order),
        "groups": [
            {
                "key": group.key,
                "label": group.label,
                "hosts": group.hosts,
                "values": {name: summary_json(group, name) for name in group.values},
            }
            for group in groups
        ],
        "excluded": dict(comparison.excluded),
    }


def summary_json(group: Group, cipher: str) -> dict[str, float]:
    """A cipher's summary in the shape of the API's answer, with its doubtful votes."""
    summary = group.values[cipher]
    doubtful = {"doubtful": group.doubtful[cipher]} if cipher in group.doubtful else {}
    return {
        **doubtful,
        "median": summary.median,
        "q1": summary.q1,
        "q3": summary.q3,
        "min": summary.minimum,
        "max": summary.maximum,
        "n": summary.n,
    }


def chart_view(comparison: Comparison, display: Display) -> dict[str, Any]:
    """What the chart draws (`ChartView` in frontend/src/comparison.ts)."""
    here = measured_here(comparison)
    groups = _as_many_as_fit(ordered_groups(comparison, display)[: display.top])
    later = dict.fromkeys(after_a_break(comparison), ", tool changed")
    return {
        "comparison": comparison_json(comparison, groups),
        "colours": {cipher: colour_slot(cipher) for cipher in comparison.ciphers},
        "names": dict(short_names(comparison.ciphers)),
        "measured_here": [group.key for group in groups if group.key in here],
        "notes": {group.key: hosts_note(group) + later.get(group.key, "") for group in groups},
        "scale": display.scale,
    }


def counted_hosts(count: int) -> str:
    """ "2 hosts"."""
    return f"{count} host{'' if count == 1 else 's'}"


def hosts_note(group: Group) -> str:
    """The group's hosts and, where no bar stands for all of them, how many at most."""
    hosts = counted_hosts(group.hosts)
    most = max((summary.n for summary in group.values.values()), default=0)
    return hosts if most >= group.hosts else f"{hosts}, n ≤ {most}"


def measured_here(comparison: Comparison) -> frozenset[str]:
    """Keys of the groups to mark as measured here: none where all are, since that marks nothing."""
    here = {group.key for group in comparison.groups if MEASURED in group.sources}
    return frozenset(here if len(here) < len(comparison.groups) else ())


def _as_many_as_fit(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    bars = 0
    for index, group in enumerate(groups):
        bars += len(group.values)
        if bars > MAX_CHART_BARS and index > 0:
            return groups[:index]
    return groups
