"""What the start of a stream takes off the rate of a pipeline (docs/method.md, section 1)."""

START_UP_SECONDS = 0.1
"""The first tenth of a second of a stream is slow, on every machine about as long."""


def start_up_difference(seconds: float | None, others: float | None) -> float:
    """By how much tries of these lengths differ in rate on one machine, as a fraction.

    0 where a length is not known: nothing is known to differ then.
    """
    if not seconds or not others:
        return 0.0
    return abs(_share(seconds) - _share(others))


def _share(seconds: float) -> float:
    return min(1.0, START_UP_SECONDS / seconds)
