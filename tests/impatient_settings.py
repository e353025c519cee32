"""Use the real settings without the minute that passes before a run is queued again."""

from datetime import timedelta

from config.settings import *  # noqa: F403

REQUEUE_AFTER = timedelta(seconds=5)
CELERY_BEAT_SCHEDULE["queue-waiting-runs"]["schedule"] = REQUEUE_AFTER  # noqa: F405
