"""From costs and assumptions to what a fleet of some size needs: arithmetic alone."""

import math
from dataclasses import dataclass

from tests.bench.fleet.size import MEASUREMENTS_PER_RUN
from tests.bench.scaling.costs import Chart, Costs

FLEETS = ((10_000, 24), (100_000, 1), (100_000, 24), (1_000_000, 1))
"""Hosts, and months that their runs are kept."""

SECONDS_PER_DAY = 86_400
DAYS_PER_MONTH = 30.4


@dataclass(frozen=True)
class Assumptions:
    """What cannot be measured here; each stands in docs/scaling.md with its reason."""

    days_between_runs: float = 7
    """Of one host: its cipher speeds change with upgrades, not by the hour."""

    months_kept: int = 24
    peak: float = 3
    """Times the mean rate that must be borne: hosts of one site measure in the same hours."""

    hosts_per_reader: float = 1_000
    """Hosts for each person who looks at charts at the same time."""

    seconds_between_charts: float = 10
    """Of one reader."""

    cached_share: float = 0.8
    """Charts that somebody asked for since the last upload that changed them."""

    utilisation: float = 0.5
    """Of a core, so that waiting stays short."""

    partition_rows: float = 2e9
    """Measurements of a month up to which one partition's index stays maintainable."""

    backlog_minutes: float = 60
    """Uploads that may wait in Redis while workers are away."""


@dataclass(frozen=True)
class Needs:
    """Of one fleet. Processes and cores are rounded up, bytes are on disk with indexes."""

    hosts: int
    uploads_per_second: float
    web_processes: int
    workers: int
    database_cores: int
    database_bytes: float
    measurements_bytes: float
    rows_per_month: float
    partitions_per_month: int
    chart_cpu_seconds: float
    copy_bytes: float
    redis_bytes: float


def growth_exponent(charts: tuple[Chart, ...]) -> float:
    """b of CPU ~ rows^b between the smallest and the largest size measured."""
    first, last = charts[0], charts[-1]
    times = sum(last.cpu) / sum(first.cpu)
    return max(0.0, math.log(times) / math.log(last.size.runs / first.size.runs))


def needs(hosts: int, costs: Costs, given: Assumptions) -> Needs:
    """What a fleet of so many hosts needs."""
    charts = tuple(costs.charts)
    largest = charts[-1]
    mean = hosts / given.days_between_runs / SECONDS_PER_DAY
    uploads = mean * given.peak
    kept = mean * SECONDS_PER_DAY * DAYS_PER_MONTH * given.months_kept
    slower = max(1.0, kept / largest.size.runs) ** growth_exponent(charts)
    views = hosts / given.hosts_per_reader / given.seconds_between_charts
    fresh = views * (1 - given.cached_share)
    web = uploads * costs.upload[0] + views * costs.cached_chart + fresh * largest.cpu[0] * slower
    database = uploads * (costs.upload[1] + costs.processing[1]) + fresh * largest.cpu[1]
    rows = mean * SECONDS_PER_DAY * DAYS_PER_MONTH * MEASUREMENTS_PER_RUN
    waiting = uploads * given.backlog_minutes * 60
    return Needs(
        hosts=hosts,
        uploads_per_second=uploads,
        web_processes=math.ceil(web / given.utilisation),
        workers=math.ceil(uploads * costs.processing[0] / given.utilisation),
        database_cores=math.ceil(database / given.utilisation),
        database_bytes=kept * sum(costs.bytes_per_run.values()) + hosts * costs.bytes_per_host,
        measurements_bytes=kept * costs.bytes_per_run["runs_measurement"],
        rows_per_month=rows,
        partitions_per_month=math.ceil(rows / given.partition_rows),
        chart_cpu_seconds=sum(largest.cpu) * slower,
        copy_bytes=kept * largest.copy_bytes / largest.size.runs,
        redis_bytes=waiting * costs.redis_bytes_per_task
        + views * 600 * (1 - given.cached_share) * costs.redis_bytes_per_chart,
    )
