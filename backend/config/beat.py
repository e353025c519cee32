"""Celery's beat with its schedule in memory: no file can be wrong, and no clock makes it wait."""

from typing import Any

from celery.beat import Scheduler

from telemetry.signs_of_life import BEAT, leave_sign


class MemoryScheduler(Scheduler):
    """Counts intervals from its start, and from now where the clock has been set back."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due, and leave a sign of life."""
        leave_sign(BEAT)
        for entry in self.schedule.values():
            now = entry.default_now()
            # It would wait for as long as the clock was ahead.
            if entry.last_run_at and entry.last_run_at > now:
                entry.last_run_at = now
                self._heap = None
        return float(super().tick(*args, **kwargs))
