"""One call of the bench: which size, which bars, and what came of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from results.analytics import engine, maintenance
from tests.bench import serving, timing
from tests.bench.bars.all import BARS
from tests.bench.figures import Figure, table
from tests.bench.fleet import agreement, build
from tests.bench.fleet.size import SIZES, Size
from tests.bench.telling import Steps, say

DEFAULT_SIZE = "4.8m"
COPY_SECONDS = 600.0
"""The longest that this process waits for its analytics copy."""

CHECKED_RUNS = 20
"""Random runs of the data set that the program processes again, to see that it agrees."""


class WrongSetting(Exception):
    """A variable of the environment that makes no sense; the message says what it may be."""


@dataclass(frozen=True)
class Asked:
    """Settings of a call. A tiny fleet shows that everything works; nothing is asked of it."""

    size: Size
    bars: tuple[str, ...]

    @property
    def enforced(self) -> bool:
        """Whether a missed bar is a failure."""
        return self.size.name != "tiny"


def asked(variables: Mapping[str, str]) -> Asked:
    """BENCH_SIZE and BENCH_ONLY."""
    name = variables.get("BENCH_SIZE") or DEFAULT_SIZE
    if name not in SIZES:
        raise WrongSetting(f"BENCH_SIZE={name} is unknown: it may be {', '.join(SIZES)}.")
    text = variables.get("BENCH_ONLY") or ",".join(BARS)
    bars = tuple(part.strip() for part in text.split(","))
    unknown = [bar for bar in bars if bar not in BARS]
    if unknown:
        raise WrongSetting(f"BENCH_ONLY={text}: {unknown[0]!r} is none of {', '.join(BARS)}.")
    return Asked(SIZES[name], bars)


def measure(asked: Asked) -> list[Figure]:
    """All that was asked for, one after the other."""
    timing.chosen.effort = timing.FULL if asked.enforced else timing.QUICK
    engine.PATIENCE_SECONDS = COPY_SECONDS
    build.provide(asked.size)
    found = _agreement()
    maintenance.snapshot()  # as the worker leaves it: processes start from it
    steps = Steps(f"\nMeasuring at {asked.size.measurements:,} measurements")
    with serving.running:
        for bar in (one for one in BARS if one in asked.bars):
            with steps.step(f"bar {bar}"):
                found += BARS[bar](asked.size)
    steps.end()
    return found


def _agreement() -> list[Figure]:
    faults = agreement.disagreements(CHECKED_RUNS)
    for fault in faults:
        say(fault)
    name = "0 data set: runs that the program would store otherwise"
    return [Figure(name, f"of {CHECKED_RUNS}", float(len(faults)), None, "0", not faults)]


def judge(asked: Asked, found: Sequence[Figure], seconds: float) -> int:
    """Print the table and the last line; 1 when a bar that counts is missed."""
    missed = [one.name for one in found if one.ok is False]
    say(f"\n{table(found)}\n")
    say(f"{len(found) - len(missed)} of {len(found)} within their bars, in {seconds:.0f} s")
    return 1 if missed and asked.enforced else 0
