from typing import Any

from celery.beat import Scheduler

from core.signs_of_life import BEAT, leave_sign


class MemoryScheduler(Scheduler):
    """Keep the Celery beat schedule in memory instead of a file, and record heartbeats.

    All intervals begin again when beat restarts.
    """

    def tick(self, *args: Any, **kwargs: Any) -> float:
        leave_sign(BEAT)
        return float(super().tick(*args, **kwargs))
