"""One measured data point for each assumption of docs/scaling.md."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import redis
from django.conf import settings
from django.core.cache import cache
from django.db import connection

from ingest.tasks import process_run
from results.analytics.engine import questions
from store.models import Host, Run
from tests.bench.bars.comparison import API, asking
from tests.bench.bars.processing import HOSTS, scratch_runs
from tests.bench.bars.upload import CLIENTS, uploading
from tests.bench.clients import upload
from tests.bench.fleet import build
from tests.bench.fleet.size import Size
from tests.bench.scaling.cpu import Spent, spent_by

UPLOADS = 50
"""By each client."""

PROCESSED = 5
"""Times `HOSTS` runs."""

CHART_CALLS = 10
CHARTS = (
    *({"tool": "ssh", "group_by": group_by} for group_by in ("cpu", "os", "openssl")),
    *({"tool": "openssl", "group_by": group_by} for group_by in ("cpu", "os", "openssl")),
)
PER_RUN = ("runs_measurement", "runs_rundocument", "runs_run", "runs_baselinelevel")
PER_RUN_TABLES = (*PER_RUN, "runs_runspeedindex")
MB = 1e6


@dataclass(frozen=True)
class Chart:
    """Comparisons at one size, nothing in the cache: their mean cost.

    `cpu` in CPU seconds of program (its copy too) and database; `milliseconds` is the median of the
    answers; `copy_bytes` the memory of the copy.
    """

    size: Size
    cpu: Spent
    milliseconds: float
    copy_bytes: float


@dataclass(frozen=True)
class Costs:
    """What one run, one host and one chart cost. Bytes are on disk, with indexes."""

    upload: Spent
    processing: Spent
    charts: Sequence[Chart]
    cached_chart: float
    bytes_per_run: Mapping[str, float]
    bytes_per_host: float
    redis_bytes_per_task: float
    redis_bytes_per_chart: float
    web_bytes: float


def measure(size: Size, sizes: Sequence[Size]) -> Costs:
    """Everything at one size, charts at all of them but a tiny one."""
    build.use(size)
    uploads, per_task, web_bytes = _upload()
    processing = _processing()
    per_run, per_host = _bytes()
    charts = [_chart(one) for one in sizes if one.name != "tiny"]
    build.use(size)
    cached, per_chart = _cached()
    return Costs(
        upload=uploads,
        processing=processing,
        charts=charts,
        cached_chart=cached,
        bytes_per_run=per_run,
        bytes_per_host=per_host,
        redis_bytes_per_task=per_task,
        redis_bytes_per_chart=per_chart,
        web_bytes=web_bytes,
    )


def _upload() -> tuple[Spent, float, float]:
    """Cost of one upload, Redis' bytes for its task, bytes of memory of one web process."""
    count = UPLOADS * CLIENTS
    with uploading() as uploads:
        uploads.round(upload, 5)
        before = _redis_bytes()
        spent = spent_by(lambda: uploads.round(upload, UPLOADS), uploads.web.cpu_seconds)
        queued = max(0.0, _redis_bytes() - before) / count
        memory = median(worker.memory_info().rss for worker in uploads.web.workers())
    return _each(spent, count), queued, memory


def _processing() -> Spent:
    with scratch_runs() as accept:
        for key in accept(HOSTS):
            process_run(key)
        keys = [key for _ in range(PROCESSED) for key in accept(HOSTS)]
        return _each(spent_by(lambda: [process_run(key) for key in keys]), len(keys))


def _chart(size: Size) -> Chart:
    build.use(size)
    asked = [asking(API, chart) for chart in CHARTS]
    for ask in asked:
        ask()  # what is made once is not measured
    times: list[float] = []

    def all_charts() -> None:
        for ask in asked:
            cache.clear()
            begun = perf_counter()
            ask()
            times.append((perf_counter() - begun) * 1000)

    def work() -> None:
        for _ in range(CHART_CALLS):
            all_charts()

    spent = spent_by(work)
    with questions() as ask_copy:
        copy_bytes = ask_copy("SELECT sum(memory_usage_bytes) FROM duckdb_memory()", {})[0][0]
    each = _each(spent, CHART_CALLS * len(CHARTS))
    return Chart(size, each, median(times), float(copy_bytes))


def _cached() -> tuple[float, float]:
    """CPU seconds of a chart that was asked for before, and Redis' bytes for it."""
    cache.clear()
    before = _redis_bytes()
    asked = [asking(API, chart) for chart in CHARTS]
    for ask in asked:
        ask()
    stored = (_redis_bytes() - before) / len(CHARTS)
    spent = spent_by(lambda: [ask() for _ in range(CHART_CALLS) for ask in asked])
    return sum(_each(spent, CHART_CALLS * len(CHARTS))), max(stored, 0.0)


def _bytes() -> tuple[dict[str, float], float]:
    """Bytes per run of each table that grows with runs; of all others together per host."""
    runs, hosts = Run.objects.count(), Host.objects.count()
    statement = (
        "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
        " WHERE relkind IN ('r', 'm') AND relnamespace = 'public'::regnamespace"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)
        sizes: dict[str, int] = dict(cursor.fetchall())
    per_run = {
        table: sum(size for name, size in sizes.items() if name.startswith(table)) / runs
        if table == "runs_measurement"
        else sizes[table] / runs
        for table in PER_RUN_TABLES
    }
    others = sum(
        size
        for name, size in sizes.items()
        if name not in PER_RUN_TABLES and not name.startswith("runs_measurement")
    )
    return per_run, others / hosts


def _redis_bytes() -> float:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        memory: dict[str, float] = client.info("memory")
    return float(memory["used_memory"])


def _each(spent: Spent, count: int) -> Spent:
    return spent[0] / count, spent[1] / count
