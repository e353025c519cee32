"""The real settings of a site that waits no minute before it queues a run again."""

from datetime import timedelta

from config.settings import *  # noqa: F403

REQUEUE_AFTER = timedelta(seconds=5)
CELERY_BEAT_SCHEDULE["queue-waiting-runs"]["schedule"] = REQUEUE_AFTER  # noqa: F405
