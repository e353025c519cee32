"""What a bar yields: figures, each beside its floor and what is asked."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    `value` and `floor` are in `unit`; `floor` is None where a bar is absolute. `bar`: what is
    asked, in words. `ok` None: shown for comparison, nothing is asked of it.
    """

    name: str
    unit: str
    value: float | None
    floor: float | None
    bar: str
    ok: bool | None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """`value` as a multiple of `floor`."""
        return self.value / self.floor if self.value is not None and self.floor else None


@dataclass(frozen=True)
class Pair:
    """Medians over rounds of the program's and the floor's figures, measured in turn."""

    value: float
    floor: float

    @classmethod
    def of(cls, values: Sequence[float], floors: Sequence[float]) -> "Pair":
        """From the figures of the rounds."""
        return cls(median(values), median(floors))


def at_least(name: str, unit: str, pair: Pair, share: float) -> Figure:
    """A rate of which `share` of the floor's is asked."""
    ok = pair.value >= share * pair.floor
    return Figure(name, unit, pair.value, pair.floor, f">= {share:g} x", ok)


def at_most(
    name: str, unit: str, pair: Pair, times: float, more: float = 0.0, most: float = math.inf
) -> Figure:
    """A time of which at most `times` the floor's and `more` is allowed, and never above `most`."""
    ok = pair.value <= min(times * pair.floor + more, most)
    words = f"<= {times:.3g} x" + (f" + {more:g} {unit}" if more else "")
    words += f", <= {most:g} {unit}" if most < math.inf else ""
    return Figure(name, unit, pair.value, pair.floor, words, ok)


def below(name: str, unit: str, value: float, limit: float) -> Figure:
    """A figure with an absolute limit."""
    return Figure(name, unit, value, None, f"< {limit:g} {unit}", value < limit)


def above(name: str, unit: str, value: float, limit: float) -> Figure:
    """A figure that is to be at least so much."""
    return Figure(name, unit, value, None, f">= {limit:g} {unit}", value >= limit)


def worst(name: str, figures: Sequence[Figure]) -> Figure:
    """Of lines with the same bar the slowest that misses it, or the slowest; its name as a note."""
    found = max(figures, key=lambda one: (one.ok is False, one.value or 0.0))
    return replace(found, name=f"{name}, slowest of {len(figures)}", note=found.name)


def missing(name: str, bar: str, why: str) -> Figure:
    """A figure that could not be measured, which is a missed bar."""
    return Figure(name, "", None, None, bar, False, why)


def table(figures: Sequence[Figure]) -> str:
    """The figures as text for a terminal."""
    rows = [("", "value", "floor", "unit", "ratio", "bar", "ok")]
    rows += [
        (
            one.name,
            shown(one.value),
            shown(one.floor),
            one.unit,
            shown(one.ratio),
            one.bar,
            {True: "yes", False: "NO", None: ""}[one.ok] + (f"  ({one.note})" if one.note else ""),
        )
        for one in figures
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(7)]
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    right = (1, 2, 4)
    return "  ".join(
        f"{cell:>{width}}" if column in right else f"{cell:<{width}}"
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ).rstrip()


def shown(value: float | None) -> str:
    """A figure for people, three digits of it; "-" for none."""
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def write_json(figures: Sequence[Figure], path: Path) -> None:
    """The figures as a file for programs."""
    names = ("name", "value", "floor", "ratio", "bar", "ok", "unit", "note")
    rows = [{name: getattr(one, name) for name in names} for one in figures]
    path.write_text(json.dumps(rows, indent=1) + "\n")
