"""17: how long a process takes to bring its copy up to date, before it answers."""

from collections.abc import Sequence
from statistics import median

from ingest.tasks import process_run
from results.analytics.engine import questions
from store.models import Run
from tests.bench.bars.processing import HOSTS, scratch_runs
from tests.bench.figures import Figure, below
from tests.bench.fleet.size import Size
from tests.bench.timing import chosen, milliseconds

ONE_MS, MANY_MS = 25.0, 500.0


def figures(size: Size) -> list[Figure]:
    """After one run and after a thousand have been processed; after these have been hidden."""
    times = 1 if size.name == "tiny" else 25
    with scratch_runs() as accept:
        _followed(_processed(accept(1)))
        one = median(_followed(_processed(accept(1))) for _ in range(chosen.effort.calls))
        keys = [key for _ in range(times) for key in accept(HOSTS)]
        many = _followed(_processed(keys))
        hidden = _followed(Run.objects.filter(pk__in=keys).update(hidden=True))
    return [
        below("17 copy: follow 1 run", "ms", one, ONE_MS),
        below(f"17 copy: follow {len(keys):,} runs", "ms", many, MANY_MS),
        below(f"17 copy: follow {len(keys):,} hidden runs", "ms", hidden, MANY_MS),
    ]


def _processed(keys: Sequence[int]) -> int:
    for key in keys:
        process_run(key)
    return len(keys)


def _followed(_changed: int) -> float:
    """Milliseconds until the copy has what has just been changed."""
    return milliseconds(_follow)


def _follow() -> None:
    with questions():
        pass
