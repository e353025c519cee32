"""Whether reading takes time in proportion to the length of the text."""

import gc
from collections.abc import Callable
from time import process_time

TIMES_LONGER = 8
SLACK = 3.0
"""What other work on the machine may add to one measurement; by the square it would be 8."""

ROUNDS = 5
"""One that agrees is enough: the others were disturbed."""

SHORTEST_SECONDS = 0.005


def is_linear(read: Callable[[str], object], short: str, long: str) -> bool:
    """Whether `long`, `TIMES_LONGER` times `short`, takes that many times its CPU time."""
    return any(
        _seconds(read, long) <= SLACK * TIMES_LONGER * max(_seconds(read, short), SHORTEST_SECONDS)
        for _ in range(ROUNDS)
    )


def _seconds(read: Callable[[str], object], text: str) -> float:
    """CPU time without collections: they cost by what the whole process holds."""
    gc.disable()
    try:
        begun = process_time()
        read(text)
        return process_time() - begun
    finally:
        gc.enable()
