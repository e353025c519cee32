"""The names that runs of one machine id came with: a machine that was renamed, or clones.

Cloned machines share one machine id. What tells them from a machine that was renamed is the time
of their runs, by the machines' own clocks, so that the order of uploads has no say:

- renamed: all runs of the old name end before those of the new one begin. They may touch: a run
  may begin in the second in which the one before it ended.
- alternating, so probably clones: any other two names, such as A, B, A, or two runs at once.

Names are the same when they differ in case or spelling of characters only
(`documents.naming.same_name`). Runs without a date say nothing of this.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from documents.naming import same_name


@dataclass(frozen=True)
class NamedRuns:
    """Runs of one name: the start of the first and the end of the last, None where undated."""

    name: str
    first: datetime | None
    last: datetime | None
    runs: int = 1


def together(runs: Iterable[NamedRuns]) -> list[NamedRuns]:
    """One for each name, the latest first, undated ones last; spelt as in its latest runs."""
    found: dict[str, NamedRuns] = {}
    for one in sorted(runs, key=_latest_last):
        key = same_name(one.name)
        found[key] = _joined(found[key], one) if key in found else one
    return sorted(found.values(), key=_latest_last, reverse=True)


def _latest_last(one: NamedRuns) -> tuple[bool, float, float, str]:
    if one.first is None or one.last is None:
        return (False, 0.0, 0.0, one.name)
    return (True, one.last.timestamp(), one.first.timestamp(), one.name)


def _joined(before: NamedRuns, after: NamedRuns) -> NamedRuns:
    firsts = [one.first for one in (before, after) if one.first]
    lasts = [one.last for one in (before, after) if one.last]
    count = before.runs + after.runs
    return NamedRuns(after.name, min(firsts, default=None), max(lasts, default=None), count)


def alternate(one: NamedRuns, other: NamedRuns) -> bool:
    """Whether neither name's runs all end before the other's begin."""
    if not (one.first and one.last and other.first and other.last):
        return False
    if one.first == other.first:
        return True
    return one.first < other.last and other.first < one.last


def alternating(names: Iterable[NamedRuns]) -> list[NamedRuns]:
    """Those of these names, each given once, that alternate with another one."""
    given = list(names)
    return [
        one for one in given if any(alternate(one, other) for other in given if other is not one)
    ]
