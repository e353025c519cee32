import collections
import statistics
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ciphermark_agent import common
from ciphermark_agent.children import end_children
from ciphermark_agent.common import FOREIGN_LIMIT, Json, Progress, TryFailed, rate

STABLE_MIN_TRIES = 5  # fewer do not determine the median's uncertainty
MAX_SAMPLES = 100  # per measurement in the run document
MAX_REPEATS = 2  # per disturbed try
MOST_FAILURES = 2  # consecutive failures that end the tries of a kind
NOT_REACHED = "not tried: interrupted"


class Depth(NamedTuple):
    name: str
    tries: int
    pipeline_seconds: float  # the first 0.1 s are slow, so a longer try has a higher rate
    steady_seconds: float  # after the warm-up; a slope needs less time than a whole transfer
    openssl_seconds: int  # per block size; 3 s give the same median as 1 s
    repeat_seconds: float  # time limit for all repeats of disturbed tries
    wait_seconds: float  # maximum wait for an idle CPU before the start
    stable: Optional[float] = None  # a series ends at this uncertainty, a share of the median


QUICK = Depth("quick", 3, 0.8, 0.5, 1, 4.0, 5.0)
STANDARD = Depth("standard", 5, 0.8, 1.0, 1, 15.0, 30.0)
THOROUGH = Depth("thorough", 15, 0.8, 1.5, 1, 60.0, 120.0, stable=0.02)
DEPTHS = {depth.name: depth for depth in (QUICK, STANDARD, THOROUGH)}


class Series:
    def __init__(self, tool: str, cipher: str, acceleration: str = "default", **facts: Any) -> None:
        self.facts: Json = {"tool": tool, "cipher": cipher, "acceleration": acceleration, **facts}
        self.samples: List[Json] = []

    def median(self) -> float:
        return statistics.median(map(rate, self.samples))

    def complete(self, wanted: Optional[float]) -> bool:
        room = MAX_SAMPLES - len(self.samples) > MAX_REPEATS
        return not room or (wanted is not None and self.uncertainty() < wanted)

    def uncertainty(self) -> float:
        """Return the standard error of the median as a fraction, or infinity for too few tries."""
        if len(self.samples) < STABLE_MIN_TRIES:
            return float("inf")
        middle = self.median()
        deviation = statistics.median(abs(rate(sample) - middle) for sample in self.samples)
        # 1.4826 * MAD estimates the standard deviation; 1.2533 converts the error of a mean.
        return float(1.2533 * 1.4826 * deviation / len(self.samples) ** 0.5 / middle)


class Skipped:
    def __init__(self) -> None:
        self.entries: Dict[Any, Json] = {}

    def add(self, tool: str, cipher: Optional[str], reason: str, part: str = "") -> None:
        """Record the reason why a measurement is missing.

        If `cipher` is None, the reason applies to the whole tool. `part` restricts the reason to
        some series of the cipher, such as "decrypt".
        """
        text = "%s: %s" % (part, reason) if part else reason
        entry = {"tool": tool, "cipher": cipher, "reason": text[:1000]}
        self.entries.setdefault((tool, cipher, part), entry)


def failure_of(attempt: Callable[..., None], *arguments: Any) -> Optional[str]:
    try:
        attempt(*arguments)
    except TryFailed as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - a fault of one try must not end the run
        end_children()
        return common.unforeseen(error)
    return None


def disturbed(sample: Json) -> bool:
    return (sample.get("foreign_cpu") or 0.0) > FOREIGN_LIMIT


class Plan:
    def __init__(self, depth: Depth, skipped: Skipped, progress: Progress) -> None:
        self.depth, self.skipped, self.progress = depth, skipped, progress
        # Label, expected seconds and function of each step.
        self.steps: List[Tuple[str, float, Callable[[], Any]]] = []
        self.series: Dict[Any, Series] = {}
        self.repeat_seconds = depth.repeat_seconds  # left for repeats
        self.failures: Dict[Any, int] = collections.Counter()
        self.reasons: Dict[Any, str] = {}

    def cost(self) -> Tuple[int, float]:
        return len(self.steps), sum(seconds for _, seconds, _ in self.steps)

    def run(self) -> None:
        for label, seconds, step in self.steps:
            self.progress.step(label, seconds)
            step()

    def attempt(self, kind: Any, step: str, attempt: Callable[[], None]) -> Optional[str]:
        """Return why a try failed, or None. Skip a `kind` after two consecutive failures."""
        if self.failures[kind] >= MOST_FAILURES:
            return None
        reason = failure_of(attempt)
        self.failures[kind] = self.failures[kind] + 1 if reason else 0
        if reason:
            self.reasons[kind, step] = reason
            common.verbose("%s %s: %s" % (kind.in_words(), step, reason))
        return reason

    def until_quiet(self, attempt: Callable[[], Json], samples: List[Json]) -> None:
        """Append samples of a try, repeated while other programs disturb it, within limits."""
        for number in range(1 + MAX_REPEATS):
            began = time.monotonic()
            samples.append(attempt())
            spent = time.monotonic() - began
            if number:
                self.repeat_seconds -= spent
            if not disturbed(samples[-1]) or spent > self.repeat_seconds:
                break
