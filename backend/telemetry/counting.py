"""Counting in every process of the site, summed up in Redis.

To count is to add to a number in this process, which takes a microsecond and waits for nobody.
Every two seconds a thread adds what is new to one hash in Redis, so that whichever web process is
asked knows what all of them and the workers counted, in whatever container. A process that is
killed loses two seconds, an addition whose answer is lost is made twice; Redis that loses its data
begins at zero, which Prometheus understands.
"""

import atexit
import json
import os
import threading
import time
from bisect import bisect_left
from collections import Counter as Numbers

from redis.exceptions import RedisError

from store.redis_client import quick_redis
from telemetry.metrics import Counter, Histogram
from telemetry.signs_of_life import SEEN

KEY = "ciphermark:counters:1"
"""Another number when bounds or labels of a metric change."""

EVERY_SECONDS = 2.0

Field = tuple[str, ...]
"""Name of the metric, values of its labels and, of a histogram, which of its numbers."""

SUM = "sum"


class _Counting:
    """What this process has counted and Redis has not heard of."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._numbers: Numbers[Field] = Numbers()
        self._signs: dict[str, float] = {}
        threading.Thread(target=self._send_for_ever, name="counting", daemon=True).start()

    def add(self, amounts: dict[Field, float]) -> None:
        with self._lock:
            for field, amount in amounts.items():
                self._numbers[field] += amount  # type: ignore[assignment]  # seconds are fractions

    def note(self, sign: str) -> None:
        self._signs[sign] = time.time()

    def send(self) -> None:
        """Add to Redis what is new; while it cannot be reached, it waits here."""
        with self._sending:
            with self._lock:
                numbers, self._numbers = self._numbers, Numbers()
                signs, self._signs = self._signs, {}
            if not numbers and not signs:
                return
            try:
                with quick_redis().pipeline() as pipeline:
                    for field, amount in numbers.items():
                        pipeline.hincrbyfloat(KEY, json.dumps(field), amount)
                    for sign, at in signs.items():
                        pipeline.hset(SEEN, sign, at)
                    pipeline.execute()
            except RedisError:
                self.add(dict(numbers))

    def _send_for_ever(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY_SECONDS):
            self.send()


_own: _Counting | None = None
_making = threading.Lock()


def _counting() -> _Counting:
    """That of this process; a fork does not inherit its parent's."""
    global _own
    if _own is None or _own.process != os.getpid():
        with _making:
            if _own is None or _own.process != os.getpid():
                _own = _Counting()
    return _own


def count(counter: Counter, *labels: str) -> None:
    """It happened once more."""
    _counting().add({(counter.name, *labels): 1})


def observe(histogram: Histogram, seconds: float, *labels: str) -> None:
    """It happened once more, and took so long."""
    bucket = str(bisect_left(histogram.bounds, seconds))
    _counting().add({(histogram.name, *labels, bucket): 1, (histogram.name, *labels, SUM): seconds})


def note_sign(sign: str) -> None:
    """As `signs_of_life.leave_sign`, without waiting for Redis."""
    _counting().note(sign)


@atexit.register
def send_now() -> None:
    """Add to Redis what this process has counted."""
    if _own is not None and _own.process == os.getpid():
        _own.send()


def counted() -> dict[Field, float]:
    """What all processes have counted. Raises `RedisError`."""
    send_now()
    found: dict[bytes, bytes] = quick_redis().hgetall(KEY)  # type: ignore[assignment]
    return {tuple(json.loads(field)): float(number) for field, number in found.items()}
