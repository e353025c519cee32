"""Use the real settings, but queue waiting runs again after 5 seconds instead of a minute."""

from datetime import timedelta

from config.settings import *  # noqa: F403

REQUEUE_AFTER = timedelta(seconds=5)
CELERY_BEAT_SCHEDULE["queue-waiting-runs"]["schedule"] = REQUEUE_AFTER  # noqa: F405
