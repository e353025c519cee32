"""Define the Celery application: `celery -A config.celery worker`."""

import os
from logging.config import dictConfig
from typing import Any

from celery import Celery, Task
from celery.signals import (
    heartbeat_sent,
    setup_logging,
    task_failure,
    task_prerun,
    worker_init,
)
from django.conf import settings

from core.log_lines import start_context
from core.signs_of_life import WORKER, count_failed_task, leave_sign

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Skip system checks, which `manage.py migrate` has run. They would import all views (1 s).
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("ciphermark")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["accounts", "changes", "runs", "compare"])


@setup_logging.connect
def _log_as_the_site_does(**_: Any) -> None:
    """Use the site's logging settings, which remove secrets."""
    dictConfig(settings.LOGGING)


@task_prerun.connect
def _name_the_task(task_id: str, task: "Task[Any, Any]", **_: Any) -> None:
    """Add the task to log lines while it runs."""
    start_context(task=task.name, task_id=task_id)


@task_failure.connect
def _count_failure(**_: Any) -> None:
    count_failed_task()


NICENESS = 5
"""Niceness that gives web processes three times the CPU share of background tasks."""


@worker_init.connect
def _give_way_to_pages(**_: Any) -> None:
    """Lower the priority of the worker and its pool."""
    os.nice(NICENESS)


@heartbeat_sent.connect
def _leave_sign(sender: Any, **_: Any) -> None:
    """Record a heartbeat of the workers that process runs, not of the notifier."""
    if not sender.eventer.hostname.startswith("notifier@"):
        leave_sign(WORKER)
