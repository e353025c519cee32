"""19: readers with different questions beside uploads that a worker processes."""

import time
from collections.abc import Iterator
from random import Random
from statistics import quantiles
from urllib.parse import urlencode

from django.core.cache import cache

from access.tokens import create_token
from launch import preconditions
from results.selection import TOOLS
from store.models import ApiToken
from tests.bench.bars.comparison import API, cases
from tests.bench.bars.processing import HOST_NAME, scratch_runs
from tests.bench.figures import Figure, above, below, missing
from tests.bench.fleet.size import SEED, Size
from tests.bench.serving import server, worker
from tests.soak.acting import Acting, runs_of

READERS, AGENTS, UPLOADS_A_SECOND = 8, 4, 20.0
SECONDS, WARM_UP_SECONDS = 60.0, 10.0
ANSWERS_A_SECOND, P95_MS = 15.0, 800.0
TOKEN = "bench readers"


def figures(size: Size) -> list[Figure]:
    """Answers a second, the slowest twentieth of them, and whether uploads kept their pace."""
    seconds = 1.0 if size.name == "tiny" else SECONDS
    cache.clear()
    with scratch_runs(), server() as web, worker():
        acting = Acting(f"http://{preconditions.HOST}:{web.port}")
        token = create_token(TOKEN, "upload", expires_days=1)
        threads = acting.readers(_questions(), READERS, 0.0)
        threads += acting.agents(token, runs_of(HOST_NAME), UPLOADS_A_SECOND, AGENTS)
        for thread in threads:
            thread.start()
        time.sleep(min(seconds, WARM_UP_SECONDS))  # meanwhile the copies are read
        acting.pages.failures.clear()
        begin = time.monotonic()
        time.sleep(seconds)
        end = time.monotonic()
        acting.stop.set()
        for thread in threads:
            thread.join()
    ApiToken.objects.filter(name=TOKEN).delete()
    return _figures(acting, begin, end)


def _figures(acting: Acting, begin: float, end: float) -> list[Figure]:
    if failures := acting.pages.failures + acting.uploads.failures:
        return [missing("19 readers beside uploads", "no failure", failures[0])]
    answers = acting.pages.between(begin, end)
    uploads = acting.uploads.between(begin, end)
    name, seconds = f"19 {READERS} readers beside {UPLOADS_A_SECOND:g} uploads/s", end - begin
    if len(answers) < 2:
        return [missing(f"{name}: answers", "two answers", f"{len(answers)} in {seconds:.0f} s")]
    slowest = quantiles(answers, n=20)[-1] * 1000
    return [
        above(f"{name}: answers", "/s", len(answers) / seconds, ANSWERS_A_SECOND),
        below(f"{name}: 95th percentile", "ms", slowest, P95_MS),
        above(f"{name}: uploads", "/s", len(uploads) / seconds, 0.95 * UPLOADS_A_SECOND),
    ]


def _questions() -> Iterator[str]:
    """Comparisons of any metric and grouping with any one filter."""
    every, random = cases(), Random(SEED)
    while True:
        chosen = [
            random.choice([one for one in every if one.kind == kind]).ask(random)
            for kind in ("metric", "grouping", "filter")
        ]
        parameters = {key: value for one in chosen for key, value in one.items()}
        yield f"{API}?{urlencode({'tool': random.choice(TOOLS), **parameters})}"
