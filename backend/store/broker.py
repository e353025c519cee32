"""Sending tasks: nobody waits long for a broker that is away, and nothing depends on it.

What is to be done stands in PostgreSQL (accepted runs, profiles to complete); a task is only the
word that there is something. A word that is lost is said again by the sweep (`ingest.tasks`).
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from celery import Task, current_app
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from store.redis_client import quick_redis

logger = logging.getLogger(__name__)

RETRY_BROKER = 5.0
"""Seconds without another try after the broker could not be reached: no upload waits meanwhile."""

ON_ITS_WAY = "ciphermark:word:"
"""Before a task's name: the key in Redis while a word is on its way that nobody has heard."""

WORD_SECONDS = 2
"""After this long another word is sent, whatever became of the last."""


@dataclass
class _Outage:
    """Until when (monotonic seconds) this process leaves the broker alone."""

    until: float = 0.0


_outage = _Outage()


def send(task: "Task[Any, Any]", *arguments: int) -> bool:
    """Send a task; False, with a line in the log, when the broker cannot be reached now.

    Waits at most for the connection's own timeouts, and of many callers only one every few seconds.
    """
    return _reach(lambda: _publish(task, *arguments))


def enqueue_once(task: "Task[Any, Any]") -> bool:
    """Send a task that does all there is to do, unless one is on its way that has not begun.

    Such a task calls `heard` before it looks what there is. To ask costs a tenth of a task.
    """

    def publish() -> None:
        if quick_redis().set(ON_ITS_WAY + task.name, 1, nx=True, ex=WORD_SECONDS):
            _publish(task)

    return _reach(publish)


def clear_pending(task: "Task[Any, Any]") -> None:
    """From now on there is need for another word: what is committed later may be overlooked."""
    with suppress(RedisError):  # it expires
        quick_redis().delete(ON_ITS_WAY + task.name)


def _reach(publish: Callable[[], None]) -> bool:
    if time.monotonic() < _outage.until:
        return False
    if _outage.until and not _is_back():
        return False
    try:
        publish()
    except (BrokerError, RedisError, OSError) as error:
        _outage.until = time.monotonic() + RETRY_BROKER
        logger.warning("tasks wait for the sweep, the broker cannot be reached: %s", error)
        return False
    _outage.until = 0.0
    return True


def _is_back() -> bool:
    """Asked with little patience, by one caller: the others need not wait for the answer."""
    _outage.until = time.monotonic() + RETRY_BROKER
    try:
        return bool(quick_redis().ping())
    except RedisError:
        return False


def _publish(task: "Task[Any, Any]", *arguments: int) -> None:
    task.apply_async(args=arguments, retry=False)


def waiting_tasks() -> int:
    """Tasks in the queue that no worker has taken yet."""
    with current_app.connection_for_read() as connection:
        queue = current_app.conf.task_default_queue
        channel: Any = connection.default_channel  # as every transport makes it
        return int(channel.queue_declare(queue).message_count)
