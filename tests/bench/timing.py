"""Measuring two things in turn, so that what else the machine does meets both alike."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from tests.bench.figures import Pair


@dataclass(frozen=True)
class Effort:
    """How much is measured: rounds, and calls of each side in one.

    A side that is slow is called less often than `calls`, for `seconds` a round, at least once. Of
    many alike questions one in `questions` is asked.
    """

    rounds: int = 5
    calls: int = 11
    seconds: float = 0.7
    questions: int = 1


FULL, QUICK = Effort(), Effort(rounds=1, calls=1, questions=8)


@dataclass
class Chosen:
    """The effort of this call of the bench."""

    effort: Effort = FULL


chosen = Chosen()

SLOW_SECONDS = 5.0
"""Of both sides together, once each."""

Clock = Callable[[], float]


def p50_ms(
    program: Callable[[], object],
    floor: Callable[[], object],
    *,
    before: Callable[[], object] = lambda: None,
    clock: Clock = time.perf_counter,
    rounds: int = FULL.rounds,
) -> Pair:
    """Milliseconds of one call of each; `before` is done before each call, untimed.

    `rounds` are the most that are made; what takes far too long anyway gets one.
    """
    begun = time.perf_counter()
    for side in (program, floor):  # whatever is made once is not measured
        before()
        side()
    if time.perf_counter() - begun > SLOW_SECONDS:
        rounds = 1
    values, floors = [], []
    for _ in range(min(rounds, chosen.effort.rounds)):
        values.append(round_ms(program, before, clock))
        floors.append(round_ms(floor, before, clock))
    return Pair.of(values, floors)


def milliseconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1000


def round_ms(
    side: Callable[[], object],
    before: Callable[[], object] = lambda: None,
    clock: Clock = time.perf_counter,
) -> float:
    """The median of one round's calls, milliseconds."""
    begun = time.perf_counter()
    spent: list[float] = []
    effort = chosen.effort
    while len(spent) < effort.calls and (not spent or time.perf_counter() - begun < effort.seconds):
        before()
        start = clock()
        side()
        spent.append((clock() - start) * 1000)
    return median(spent)
