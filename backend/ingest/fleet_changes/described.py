"""Findings with all that an entry says of them: sizes, times, what differs in the environment."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from analysis.over_time.family_changes import Family, Figures, Size, size_of
from documents.environment_difference import Difference, environment_difference
from ingest.fleet_changes.host_state import Finding
from store.models import FleetChange, RunDocument
from store.statements import fetch_rows

MOST_DIFFERENCES = 12
LONGEST_WORDS = 300

Direction = FleetChange.Direction


@dataclass(frozen=True)
class Described:
    """What one host contributes to an entry, and what makes it join others.

    `seen_at`: the start of the latest run that shows it.
    """

    kind: FleetChange.Kind
    direction: FleetChange.Direction
    cause: str
    first_run: int
    good_run: int
    at: datetime
    good_at: datetime
    seen_at: datetime
    confirmed: bool
    differences: tuple[str, ...]
    family: Family = ""
    verdicts: tuple[str, str] = ("", "")
    size: Size | None = None
    example: int | None = None

    @property
    def what(self) -> tuple[str, ...]:
        """Equal for one change of one host, seen again."""
        return (self.kind, self.direction, self.family, *self.verdicts)


def describe(findings: Sequence[Finding], families: Mapping[int, Family]) -> list[Described]:
    """The findings of one host; without those that the figures themselves do not bear out.

    What has not lasted yet is left out where the kernel alone changed with it, or nothing.
    """
    if not findings:
        return []
    times = _times({key for one in findings for key in (*one.shown, one.before[-1])})
    figures = _figures(findings)
    documents = RunDocument.objects.in_bulk(times)
    stated = {pk: document.environment for pk, document in documents.items()}
    found = []
    for one in findings:
        series = [key for key, family in families.items() if family == one.family]
        size = _size(one, figures, series)
        differences = _differences(one, stated)
        told = size is not None and (one.confirmed or _likely(differences))
        if one.kind == FleetChange.Kind.SPEED and not told:
            continue
        described = _described(one, size, times, differences)
        found.append(replace(described, example=series[size.example] if size else None))
    return found


def _described(
    one: Finding,
    size: Size | None,
    times: Mapping[int, datetime],
    differences: Sequence[Difference],
) -> Described:
    first, good = one.shown[0], one.before[-1]
    return Described(
        kind=one.kind,
        direction=_direction(one, size),
        cause=_cause(differences),
        first_run=first,
        good_run=good,
        at=times[first],
        good_at=times[good],
        seen_at=times[one.shown[-1]],
        confirmed=one.confirmed,
        differences=tuple(one.words[:LONGEST_WORDS] for one in differences[:MOST_DIFFERENCES]),
        family=one.family,
        verdicts=one.verdicts,
        size=size,
    )


def _differences(one: Finding, stated: Mapping[int, Mapping[str, Any]]) -> tuple[Difference, ...]:
    tool = one.family.split(" ")[0] or None
    return environment_difference(stated[one.before[-1]], stated[one.shown[0]], tool=tool)


def _likely(differences: Sequence[Difference]) -> list[Difference]:
    """Those that may be a cause. A kernel is seldom one: it is new every few weeks."""
    return [one for one in differences if one.what != "kernel"]


def _cause(differences: Sequence[Difference]) -> str:
    """The likeliest one in words."""
    likely = _likely(differences) or differences
    return likely[0].words[:LONGEST_WORDS] if likely else ""


def _direction(one: Finding, size: Size | None) -> FleetChange.Direction:
    if size is not None:
        return Direction.FASTER if size.ratio > 1 else Direction.SLOWER
    before, after = one.verdicts
    if "hardware" not in (before, after):
        return Direction.CHANGED
    return Direction.LOST if before == "hardware" else Direction.REGAINED


def _times(keys: Iterable[int]) -> dict[int, datetime]:
    statement = "SELECT id, started_at FROM runs_run WHERE id = ANY(%s)"
    return dict(fetch_rows(statement, [list(keys)]))


def _figures(findings: Sequence[Finding]) -> dict[int, dict[int, tuple[float, float | None]]]:
    """Run -> series -> median and seconds of a try, of the runs on either side of the speeds."""
    speeds = [one for one in findings if one.kind == FleetChange.Kind.SPEED]
    keys = {key for one in speeds for key in (*one.before, *one.shown)}
    found: defaultdict[int, dict[int, tuple[float, float | None]]] = defaultdict(dict)
    statement = """
        SELECT run_id, series_id, median, try_seconds FROM runs_measurement
        WHERE run_id = ANY(%s) AND median IS NOT NULL
    """
    for run, series, median, seconds in fetch_rows(statement, [list(keys)]) if keys else ():
        found[run][series] = (median, seconds)
    return found


def _size(
    one: Finding,
    figures: Mapping[int, Mapping[int, tuple[float, float | None]]],
    of_family: Sequence[int],
) -> Size | None:
    def side(series: int, keys: Iterable[int]) -> Figures:
        return [figures[key][series] for key in keys if series in figures.get(key, ())]

    return size_of((side(series, one.before), side(series, one.shown)) for series in of_family)
