"""Measuring two things in turn, so that what else the machine does meets both alike."""

import time
from collections.abc import Callable
from statistics import median

from tests.bench.figures import Pair

ROUNDS = 5
CALLS = 11
"""Of each side in a round; the round's figure is their median."""

ROUND_SECONDS = 1.5
"""A side that is slow is called less often in a round, at least once."""

Clock = Callable[[], float]


def p50_ms(
    program: Callable[[], object],
    floor: Callable[[], object],
    *,
    before: Callable[[], object] = lambda: None,
    clock: Clock = time.perf_counter,
    rounds: int = ROUNDS,
) -> Pair:
    """Milliseconds of one call of each; `before` is done before each call, untimed."""
    for side in (program, floor):  # whatever is made once is not measured
        before()
        side()
    values, floors = [], []
    for _ in range(rounds):
        values.append(round_ms(program, before, clock))
        floors.append(round_ms(floor, before, clock))
    return Pair.of(values, floors)


def round_ms(
    side: Callable[[], object],
    before: Callable[[], object] = lambda: None,
    clock: Clock = time.perf_counter,
) -> float:
    """The median of one round's calls, milliseconds."""
    begun = time.perf_counter()
    spent: list[float] = []
    while len(spent) < CALLS and (not spent or time.perf_counter() - begun < ROUND_SECONDS):
        before()
        start = clock()
        side()
        spent.append((clock() - start) * 1000)
    return median(spent)
