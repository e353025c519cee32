"""Every metric that processes count: its name, what it means, its labels.

A label has few values: patterns of addresses, not addresses. What stands in the database is not
counted but read when somebody asks (`monitoring.gauges`).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Counter:
    """Something that happens; Prometheus adds `_total` to the name."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Histogram:
    """Something that takes a while: how often it took at most so many seconds."""

    name: str
    meaning: str
    bounds: tuple[float, ...]
    labels: tuple[str, ...] = ()


REQUESTS = Counter(
    "ciphermark_http_requests",
    "Requests answered, by the pattern of their address.",
    ("method", "route", "status"),
)
REQUEST_SECONDS = Histogram(
    "ciphermark_http_request_duration_seconds",
    "Time from a request's arrival in Django to the beginning of its answer.",
    (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
    ("method", "route"),
)
UPLOADS = Counter(
    "ciphermark_uploads",
    "Valid documents that arrived: stored, stored before (known), or a conflict with one stored.",
    ("source", "outcome"),
)
PROCESSED = Counter(
    "ciphermark_runs_processed", "Runs that the worker ended with, by outcome.", ("outcome",)
)
PROCESSING_SECONDS = Histogram(
    "ciphermark_run_processing_seconds",
    "Time from the begin of a run's last attempt to its rows being committed.",
    (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)

COUNTERS = (REQUESTS, UPLOADS, PROCESSED)
HISTOGRAMS = (REQUEST_SECONDS, PROCESSING_SECONDS)
