"""Run Celery beat with its schedule in memory."""

from typing import Any

from celery.beat import Scheduler

from core.signs_of_life import BEAT, leave_sign


class MemoryScheduler(Scheduler):
    """Keep the schedule in memory; intervals begin when beat starts."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send due tasks and record a heartbeat."""
        leave_sign(BEAT)
        return float(super().tick(*args, **kwargs))
