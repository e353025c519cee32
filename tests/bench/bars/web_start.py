"""18: a web process from its start to its first comparison, and the memory that it then has."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from django.core.cache import cache

from results.analytics.maintenance import snapshot
from tests.bench.bars.comparison import API, PAGE
from tests.bench.figures import Figure, below
from tests.bench.fleet.size import Size
from tests.bench.serving import Server, server

SECONDS, MEMORY_MB = 3.0, 450.0
VIEWS = ("?tool=ssh", "?tool=openssl", "?tool=ssh&group_by=host", "?tool=openssl&group_by=os")


def figures(_size: Size) -> list[Figure]:
    """With the newest snapshot, as the worker leaves it; then without one."""
    snapshot()
    memory: list[float] = []
    seconds = _start({}, lambda web: memory.append(_memory_mb(web)))
    with tempfile.TemporaryDirectory(prefix="ciphermark-bench-") as empty:
        without = _start({"CIPHERMARK_ANALYTICS_DIR": empty}, lambda _: None)
    said = below("18 web process: first comparison without a snapshot", "s", without, SECONDS)
    return [
        below("18 web process: first comparison with a snapshot", "s", seconds, SECONDS),
        replace(said, bar="", ok=None),
        below("18 web process: memory after views of all results", "MB", memory[0], MEMORY_MB),
    ]


def _start(variables: dict[str, str], then: Callable[[Server], None]) -> float:
    cache.clear()
    begun = time.monotonic()
    with server(workers=1, variables=variables) as web:
        while (status := web.answer(f"{API}{VIEWS[0]}")[0]) != HTTPStatus.OK:
            if status != HTTPStatus.SERVICE_UNAVAILABLE:
                raise AssertionError(f"the first comparison is answered {status}")
            time.sleep(0.05)
        seconds = time.monotonic() - begun
        then(web)
    return seconds


def _memory_mb(web: Server) -> float:
    for view in VIEWS:
        web.get(API + view)
        web.get(PAGE + view)
    return float(sum(one.memory_info().rss for one in web.workers())) / 1e6
