"""The table of a soak, and whether it was passed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from tests.soak.acting import Acting
from tests.soak.sampling import PARTS, Sample

PARTS_OF_TIME = 12
"""Rows of the table."""

QUEUE_AGE_SECONDS = 5.0
GROWTH = 1.10
GROWTH_MIB = 10.0
"""Memory is flat when the last quarter's median is within both of the second quarter's; the first
quarter is the time in which caches fill. PostgreSQL's processes touch shared memory little by
little and are only shown."""


@dataclass(frozen=True)
class Span:
    """The soak's begin and end (`time.monotonic`)."""

    begin: float
    end: float

    def parts(self, count: int) -> list[tuple[float, float]]:
        """Equal parts of it."""
        step = (self.end - self.begin) / count
        return [(self.begin + n * step, self.begin + (n + 1) * step) for n in range(count)]


def table(span: Span, acting: Acting, samples: Sequence[Sample]) -> str:
    """What went on, part by part."""
    head = ("minute", "uploads", "upload p95 ms", "page p95 ms", "queue age s", *PARTS)
    rows: list[tuple[str, ...]] = [head]
    for begin, end in span.parts(PARTS_OF_TIME):
        uploads, seen = acting.uploads.between(begin, end), _within(samples, begin, end)
        age = max((one.queue_age for one in seen), default=0.0)
        rows.append(
            (
                f"{(end - span.begin) / 60:.1f}",
                str(len(uploads)),
                _p95(uploads),
                _p95(acting.pages.between(begin, end)),
                f"{age:.1f}",
                *(f"{_memory(seen, name):.0f} MiB" for name in PARTS),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )


def faults(span: Span, acting: Acting, samples: Sequence[Sample], rate: float) -> list[str]:
    """What was not as it must be, each in a sentence."""
    found = [f"failed: {failure}" for failure in (*acting.uploads.failures, *acting.pages.failures)]
    expected = rate * (span.end - span.begin)
    if len(acting.uploads.times) < 0.95 * expected:
        found.append(f"only {len(acting.uploads.times)} of {expected:.0f} uploads were answered")
    oldest = max((one.queue_age for one in samples), default=0.0)
    if oldest >= QUEUE_AGE_SECONDS:
        found.append(f"a run waited for {oldest:.1f} s")
    _, second, _, last = (_within(samples, *part) for part in span.parts(4))
    for name in ("web", "worker", "redis"):
        before, after = _memory(second, name), _memory(last, name)
        if after > before * GROWTH and after > before + GROWTH_MIB:
            found.append(f"{name} grew from {before:.0f} to {after:.0f} MiB")
    return found


def _within(samples: Iterable[Sample], begin: float, end: float) -> list[Sample]:
    return [one for one in samples if begin <= one.moment < end]


def _memory(samples: Sequence[Sample], name: str) -> float:
    return median([one.memory[name] for one in samples] or [0.0])


def _p95(seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return "-"
    return f"{quantiles(seconds, n=20)[-1] * 1000:.0f}"
