"""What is known of a host's runs: what the next one says against it, and when it is overdue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Self

import orjson

from analysis.over_time.family_changes import (
    CONFIRMED_BY,
    Family,
    ObservedRun,
    Step,
    Watch,
    verdict_changes,
)
from analysis.over_time.tool_changes import breaks_between
from store.models import FleetChange

RUNS = 16
TIMES = 9
"""Runs whose verdicts and whose times are kept: the latest."""

GAPS = 3
SHORTEST_SILENCE = timedelta(days=3)
LEAST_RUNS = 3
"""A host is silent after max(3 times the median gap between its runs, 3 days), from 3 runs on."""

UNKNOWN = "unknown"

RULES = 2
"""Higher with each version of the code that finds other changes in the same runs."""


@dataclass(frozen=True)
class ArrivedRun:
    """A run that counts, as far as changes are looked for in it.

    `rates`: series -> median in bytes per second. `libraries`: tool -> the release it was measured
    with. `expected_again`: an agent measured, which does so from time to time.
    """

    key: int
    at: datetime
    expected_again: bool
    disturbed: bool
    environment: int
    verdict: str
    libraries: Mapping[str, str]
    rates: Mapping[int, float]


def heard_of(run: ArrivedRun, families: Mapping[int, Family]) -> set[Family]:
    """What the run says something about: families, and "" for the verdict."""
    if run.disturbed:
        return set()
    return {*families.values(), *([""] if run.verdict != UNKNOWN else [])}


@dataclass(frozen=True)
class Finding:
    """What the latest run shows: of a speed the `family`, else the verdicts before and after.

    `before` and `shown` are keys of runs on either side of the change; `confirmed`: it has lasted.
    """

    kind: FleetChange.Kind
    before: tuple[int, ...]
    shown: tuple[int, ...]
    confirmed: bool
    family: Family = ""
    verdicts: tuple[str, str] = ("", "")


@dataclass
class HostState:
    """The state of `HostWatch`: `runs` are (key, environment, verdict), `times` in seconds."""

    watch: Watch = field(default_factory=Watch)
    runs: list[tuple[int, int, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    libraries: dict[str, str] = field(default_factory=dict)
    rules: int = RULES

    @classmethod
    def read(cls, text: str) -> Self:
        """What `text` wrote; of an empty text the state of a host without runs."""
        if not text:
            return cls()
        raw = orjson.loads(text)
        runs = [(key, environment, verdict) for key, environment, verdict in raw["runs"]]
        return cls(
            Watch.of(raw["watch"]), runs, raw["times"], raw["libraries"], raw.get("rules", 1)
        )

    def text(self) -> str:
        """All of it as JSON."""
        return orjson.dumps(self, option=orjson.OPT_NON_STR_KEYS).decode()

    def take_in(self, run: ArrivedRun, families: Mapping[int, Family]) -> list[Finding]:
        """Take in a run that started after all before; what it shows.

        Disturbed runs neither show nor confirm anything; they only say that the host is there.
        """
        if run.expected_again:
            self.times = [*self.times, run.at.timestamp()][-TIMES:]
        if run.disturbed:
            return []
        self.runs = [*self.runs, (run.key, run.environment, run.verdict)][-RUNS:]
        return [*self._speeds(run, families), *self._verdicts(run)]

    def _speeds(self, run: ArrivedRun, families: Mapping[int, Family]) -> list[Finding]:
        renewed = self._renewed(run, families)
        observed = ObservedRun(run.key, run.rates, run.libraries, renewed)
        self.libraries = dict(run.libraries)
        return [
            Finding(FleetChange.Kind.SPEED, step.before, step.shown, step.confirmed, step.family)
            for step in self.watch.observe(observed, families)
            # What has not lasted is noise more often than not, unless there is a reason for it.
            if step.confirmed or self._moved(step)
        ]

    def _moved(self, step: Step) -> bool:
        """Whether the environment changed where the step begins."""
        known = {key: environment for key, environment, _ in self.runs}
        return known.get(step.before[-1]) != known.get(step.first)

    def _renewed(self, run: ArrivedRun, families: Mapping[int, Family]) -> set[int]:
        """Series that openssl measures differently since the run before."""
        old, new = (one.get("openssl", "") for one in (self.libraries, run.libraries))
        if not old or old == new:
            return set()
        touched = {
            family
            for family in set(families.values())
            if family.startswith("openssl ") and breaks_between(old, new, family.split(" ")[1])
        }
        return {series for series, family in families.items() if family in touched}

    def _verdicts(self, run: ArrivedRun) -> list[Finding]:
        known = [(key, verdict) for key, _, verdict in self.runs if verdict != UNKNOWN]
        if run.verdict == UNKNOWN:
            return []
        found = verdict_changes([verdict for _, verdict in known])
        return [
            _verdict_finding(known, at, confirmed)
            for at, confirmed in found
            if at + CONFIRMED_BY == len(known) or not confirmed
        ]

    def silent_after(self) -> datetime | None:
        """When the host will have been silent for too long; None if nobody can tell."""
        if len(self.times) < LEAST_RUNS:
            return None
        gap = timedelta(seconds=median(b - a for a, b in pairwise(self.times)))
        last = datetime.fromtimestamp(self.times[-1], tz=UTC)
        return last + max(GAPS * gap, SHORTEST_SILENCE)


def _verdict_finding(known: Sequence[tuple[int, str]], at: int, confirmed: bool) -> Finding:
    shown = known[at : at + CONFIRMED_BY] if confirmed else known[at:]
    return Finding(
        FleetChange.Kind.VERDICT,
        before=tuple(key for key, _ in known[:at]),
        shown=tuple(key for key, _ in shown),
        confirmed=confirmed,
        verdicts=(_level_before(known, at), known[at][1]),
    )


def _level_before(known: Sequence[tuple[int, str]], at: int) -> str:
    """The verdict that held before: a single other one in between was none."""
    others = [verdict for _, verdict in known[:at] if verdict != known[at][1]]
    return others[-1]
