"""The Celery application, `celery -A config.celery worker`: its processes, priority and signs."""

import contextlib
import os
from logging.config import dictConfig
from typing import Any

from celery import Celery, Task, bootsteps
from celery.signals import (
    before_task_publish,
    setup_logging,
    task_failure,
    task_prerun,
    worker_init,
)
from django.conf import settings
from kombu.exceptions import OperationalError as BrokerError

from telemetry.log_lines import log_context, start_context
from telemetry.signs_of_life import WORKER, count_failed_task, leave_sign

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# `manage.py migrate` has checked the code; here that would load every page, for nearly a second.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("ciphermark")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["access", "ingest", "results", "notifications"])


@setup_logging.connect
def _log_as_the_site_does(**_: Any) -> None:
    """Worker and beat too: what takes secrets out of the log is part of its settings."""
    dictConfig(settings.LOGGING)


@before_task_publish.connect
def _name_the_request(body: Any, headers: dict[str, Any], **_: Any) -> None:
    """A task without arguments does what there is to do, of whatever request."""
    request_id = log_context().get("request_id")
    if request_id and body[0]:
        headers["request_id"] = request_id


@task_prerun.connect
def _name_the_task(task_id: str, task: "Task[Any, Any]", **_: Any) -> None:
    """In every line that is written while it runs."""
    request_id = task.request.get("request_id")
    start_context(
        task=task.name, task_id=task_id, **({"request_id": request_id} if request_id else {})
    )


@task_failure.connect
def _count_failure(**_: Any) -> None:
    count_failed_task()


NICENESS = 5
"""Where both want the processor a page has three times the share of the work in the background."""


@worker_init.connect
def _give_way_to_pages(**_: Any) -> None:
    """The processes of the pool take it over."""
    os.nice(NICENESS)


SWEEP_SECONDS = 5.0

SWEEPS = {"celery": "ingest.tasks.sweep", "notifications": "notifications.tasks.send_notifications"}
"""Queue -> the task by which its workers find what is to be done."""


class Sweeping(bootsteps.StartStopStep):
    """Each worker has what was lost looked for, so that it does not depend on beat."""

    requires = ("celery.worker.components:Timer",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._timer: Any = None

    def start(self, parent: Any) -> None:
        """Begin with the worker."""
        self._timer = parent.timer.call_repeatedly(SWEEP_SECONDS, _ask_for_sweeps)

    def stop(self, parent: Any) -> None:
        """End with it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _ask_for_sweeps() -> None:
    """Through the queue, for this process has no part in the work; several workers do no harm."""
    for queue in SWEEPS.keys() & app.amqp.queues.consume_from:
        if queue == app.conf.task_default_queue:
            leave_sign(WORKER)
        with contextlib.suppress(BrokerError):
            app.send_task(SWEEPS[queue], expires=SWEEP_SECONDS, retry=False)


app.steps["worker"].add(Sweeping)
