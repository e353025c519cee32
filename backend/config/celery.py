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
def _configure_logging(**_: Any) -> None:
    # The site's settings remove secrets from log lines.
    dictConfig(settings.LOGGING)


@task_prerun.connect
def _add_task_to_log_lines(task_id: str, task: "Task[Any, Any]", **_: Any) -> None:
    start_context(task=task.name, task_id=task_id)


@task_failure.connect
def _count_failure(**_: Any) -> None:
    count_failed_task()


# Web processes get about three times the CPU share of processes with this niceness.
NICENESS = 5


@worker_init.connect
def _lower_priority(**_: Any) -> None:
    os.nice(NICENESS)


@heartbeat_sent.connect
def _record_heartbeat(sender: Any, **_: Any) -> None:
    if not sender.eventer.hostname.startswith("notifier@"):
        leave_sign(WORKER)
