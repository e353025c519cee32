"""The tables of docs/scaling.md."""

from tests.bench.into_docs import markdown_table
from tests.bench.scaling.costs import Costs
from tests.bench.scaling.cpu import Spent
from tests.bench.scaling.needs import FLEETS, Assumptions, Needs, growth_exponent, needs


def parts(costs: Costs) -> dict[str, str]:
    """Name of a part of the page -> its text."""
    return {"measured": _measured(costs), "charts": _charts(costs), "needs": _needs(costs)}


def _measured(costs: Costs) -> str:
    per_run = [
        [f"bytes on disk a run, `{table}`", f"{size:,.0f}"]
        for table, size in costs.bytes_per_run.items()
    ]
    rows = [
        ["upload: CPU of web, of PostgreSQL (ms)", _ms(costs.upload)],
        ["processing: CPU of worker, of PostgreSQL (ms)", _ms(costs.processing)],
        ["chart asked for before: CPU of both together (ms)", f"{costs.cached_chart * 1000:.2f}"],
        *per_run,
        ["bytes on disk a run, together", f"{sum(costs.bytes_per_run.values()):,.0f}"],
        ["bytes on disk a host, all other tables", f"{costs.bytes_per_host:,.0f}"],
        ["Redis: bytes for each run that waits", f"{costs.redis_bytes_per_task:,.0f}"],
        ["Redis: bytes a cached chart", f"{costs.redis_bytes_per_chart:,.0f}"],
        ["memory of one web process (MB)", f"{costs.web_bytes / 1e6:,.0f}"],
    ]
    return markdown_table(["measured", "value"], rows)


def _ms(spent: Spent) -> str:
    return f"{spent[0] * 1000:.1f}, {spent[1] * 1000:.1f}"


def _charts(costs: Costs) -> str:
    rows = [
        [
            f"{one.size.measurements:,}",
            f"{one.size.hosts:,}",
            f"{one.milliseconds:.1f}",
            _ms(one.cpu),
            _bytes(one.copy_bytes),
        ]
        for one in costs.charts
    ]
    header = ["measurements", "hosts", "answer (ms)", "CPU of web, of PostgreSQL (ms)", "the copy"]
    exponent = growth_exponent(tuple(costs.charts))
    law = f"Between the smallest and the largest the CPU time grows as rows^{exponent:.2f}."
    return f"{markdown_table(header, rows)}\n\n{law}"


def _needs(costs: Costs) -> str:
    found = [needs(hosts, costs, Assumptions(months_kept=months)) for hosts, months in FLEETS]
    rows = [
        ["runs kept", *(f"{months} months" if months > 1 else "1 month" for _, months in FLEETS)],
        ["uploads a second, peak", *(f"{one.uploads_per_second:,.1f}" for one in found)],
        ["web processes", *(f"{one.web_processes:,}" for one in found)],
        ["workers", *(f"{one.workers:,}" for one in found)],
        ["cores of PostgreSQL", *(f"{one.database_cores:,}" for one in found)],
        ["PostgreSQL on disk", *(_bytes(one.database_bytes) for one in found)],
        ["of that, measurements", *(_bytes(one.measurements_bytes) for one in found)],
        ["measurements a month", *(f"{one.rows_per_month / 1e9:,.2f} · 10⁹" for one in found)],
        ["partitions", *(_partitions(one) for one in found)],
        ["the copy, in each web process", *(_bytes(one.copy_bytes) for one in found)],
        ["chart, not cached: CPU", *(f"{one.chart_cpu_seconds:,.2f} s" for one in found)],
        ["Redis", *(_bytes(one.redis_bytes) for one in found)],
    ]
    return markdown_table(["hosts", *(f"{hosts:,}" for hosts, _ in FLEETS)], rows)


def _partitions(one: Needs) -> str:
    if one.partitions_per_month == 1:
        return "by month"
    return f"by month, {one.partitions_per_month} by host in each"


def _bytes(size: float) -> str:
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size / 1e3:,.0f} kB"
