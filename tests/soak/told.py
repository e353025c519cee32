"""The table of a soak, and whether it was passed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from tests.soak.acting import Acting
from tests.soak.sampling import Sample

PARTS_OF_TIME = 12
"""Rows of the table."""

WARM_UP = 4
"""Of these; meanwhile data come in and caches fill."""

QUEUE_AGE_SECONDS = 5.0
SETTLED_SECONDS = 10.0
KEPT_SECONDS = 600
"""Of an answer in Redis (`results.answer_cache`)."""

GROWTH, GROWTH_MIB = 1.05, 10.0
"""Memory is flat when the median of the last part of the time is within either of the first after
the warm-up. PostgreSQL's processes touch shared memory little by little and are only shown; so is
Redis until the oldest of the answers in it expire."""


@dataclass(frozen=True)
class Span:
    """The soak's begin and end (`time.monotonic`)."""

    begin: float
    end: float

    def parts(self) -> list[tuple[float, float]]:
        """Equal parts of it."""
        step = (self.end - self.begin) / PARTS_OF_TIME
        return [(self.begin + n * step, self.begin + (n + 1) * step) for n in range(PARTS_OF_TIME)]


def table(span: Span, acting: Acting, samples: Sequence[Sample]) -> str:
    """What went on, part by part."""
    names = list(samples[-1].memory)
    rows: list[tuple[str, ...]] = [
        ("minute", "uploads", "upload p95 ms", "page p95 ms", "queue age s", *names)
    ]
    for begin, end in span.parts():
        uploads, seen = acting.uploads.between(begin, end), _within(samples, begin, end)
        age = max((one.queue_age for one in seen), default=0.0)
        rows.append(
            (
                f"{(end - span.begin) / 60:.1f}",
                str(len(uploads)),
                _p95(uploads),
                _p95(acting.pages.between(begin, end)),
                f"{age:.1f}",
                *(f"{_memory(seen, name):.0f} MiB" for name in names),
            )
        )
    return _columns(rows)


def memory(span: Span, samples: Sequence[Sample]) -> str:
    """MiB of each process at the start, after the warm-up and at the end."""
    parts = span.parts()
    rows: list[tuple[str, ...]] = [("MiB", "start", "warm", "end")]
    for name in samples[-1].memory:
        sizes = (
            samples[0].memory.get(name, 0.0),
            *(_memory(_within(samples, *parts[place]), name) for place in (WARM_UP, -1)),
        )
        rows.append((name, *(f"{size:.1f}" for size in sizes)))
    return _columns(rows)


def faults(
    spans: Sequence[Span], acting: Acting, samples: Sequence[Sample], rate: float
) -> list[str]:
    """What was not as it must be, each in a sentence."""
    failures = (*acting.uploads.failures, *acting.pages.failures)
    return [f"failed: {failure}" for failure in failures] + [
        fault for span in spans for fault in _faults_of(span, acting, samples, rate)
    ]


def _faults_of(span: Span, acting: Acting, samples: Sequence[Sample], rate: float) -> Iterator[str]:
    uploads = len(acting.uploads.between(span.begin, span.end))
    expected = rate * (span.end - span.begin)
    if uploads < 0.95 * expected:
        yield f"only {uploads} of {expected:.0f} uploads were answered"
    # Those that came while nobody processed are done by then.
    settled = span.begin + SETTLED_SECONDS
    oldest = max((one.queue_age for one in _within(samples, settled, span.end)), default=0.0)
    if oldest >= QUEUE_AGE_SECONDS:
        yield f"a run waited for {oldest:.1f} s"
    parts = span.parts()
    is_full = parts[WARM_UP][0] - span.begin > KEPT_SECONDS
    shown_only = ("postgres",) if is_full else ("postgres", "redis")
    warm, last = (_within(samples, *parts[place]) for place in (WARM_UP, -1))
    for name in samples[-1].memory:
        before, after = _memory(warm, name), _memory(last, name)
        if name not in shown_only and after > max(before * GROWTH, before + GROWTH_MIB):
            yield f"{name} grew from {before:.0f} to {after:.0f} MiB"


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )


def _within(samples: Iterable[Sample], begin: float, end: float) -> list[Sample]:
    return [one for one in samples if begin <= one.moment < end]


def _memory(samples: Sequence[Sample], name: str) -> float:
    return median([one.memory.get(name, 0.0) for one in samples] or [0.0])


def _p95(seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return "-"
    return f"{quantiles(seconds, n=20)[-1] * 1000:.0f}"
