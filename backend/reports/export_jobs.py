"""The life of an export in the background: asked for, made or failed, fetched, expired.

A file appears under its name when it is whole, and never without its row: what is cancelled,
fails or is left by a worker that died is deleted. Rows done and the wish to stop go through the
cache, because the connection that copies the rows can do nothing else meanwhile.
"""

import errno
import logging
import os
import shutil
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Thread
from typing import BinaryIO

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone
from redis.exceptions import RedisError
from rest_framework.exceptions import ValidationError

from access.export_quota import check_room, of_asker, remember_network, too_old, wait_for_turn
from reports.export_files import KEPT, keep, part, remove, remove_old
from reports.export_parameters import export_of
from reports.exporting import csv_chunks, write_xlsx
from store.models import ExportJob
from store.outage import AnalyticsUnavailable, DocumentUnreadable, ObjectStorageUnavailable
from store.replica import BACKGROUND_SECONDS, again_on_primary

logger = logging.getLogger(__name__)

LEAST_FREE_BYTES = 1 << 30
"""Of the disk: the database may be on the same one, and what it cannot write is lost."""

MOST_ATTEMPTS = 3
PULSE_SECONDS = 0.5
BEAT_SECONDS = 10.0
PULSE_LASTS_SECONDS = 60
"""A maker that has not been heard of for so long is dead."""

LOST_AFTER = timedelta(seconds=30)


class Stopped(Exception):
    """Somebody wishes that the export should not go on."""


def unfinished(jobs: QuerySet[ExportJob]) -> QuerySet[ExportJob]:
    """Those that are waiting or running."""
    return jobs.filter(status__in=(ExportJob.Status.WAITING, ExportJob.Status.RUNNING))


def open_job(job: ExportJob, network: str, own: QuerySet[ExportJob]) -> ExportJob:
    """Store a new job, or return the one among the asker's `own` that is making the same file.

    `network` is where the request comes from: the limits of visitors without an account are
    counted by it. Raises `TooManyExports` when the asker has too many under way.
    """
    with transaction.atomic():
        wait_for_turn()
        asked = {"kind": job.kind, "format": job.format, "query": job.query, "site": job.site}
        same = unfinished(own).filter(**asked).first()
        if same is not None:
            return same
        check_room(job, list(unfinished(of_asker(job))), network)
        job.save()
    remember_network(job, network, KEPT.total_seconds())
    ended = of_asker(job).filter(status__in=(ExportJob.Status.READY, ExportJob.Status.FAILED))
    for old in too_old(job, list(ended), network):
        try:
            delete_job(old)
        except ObjectStorageUnavailable:
            break  # the new job is stored, and old ones go another time
    return job


def delete_job(job: ExportJob) -> None:
    """Cancel it or forget it: the row, the file and, if it is being made, the making.

    Where the file cannot be deleted (`ObjectStorageUnavailable`), all stays as it is.
    """
    cache.set(job.stop_key, 1, PULSE_LASTS_SECONDS)
    with transaction.atomic():
        found = ExportJob.objects.select_for_update().filter(pk=job.pk).first()
        if found is None:
            return
        # One that is being made is deleted by its maker, who finds no job then. What failed may
        # have been brought away before it did.
        if not found.unfinished and found.size_bytes is not None:
            remove(found)
        found.delete()


def another_runs(job_pk: int) -> bool:
    """Whether a live worker is making another file; one at a time leaves room for runs."""
    running = ExportJob.objects.filter(status=ExportJob.Status.RUNNING).exclude(pk=job_pk)
    return any(cache.get(job.pulse_key) is not None for job in running)


def make(job_pk: int) -> None:
    """Create the file of a waiting job; nothing is left of it but what is whole."""
    job = _begin(job_pk)
    if job is None:
        return
    try:
        again_on_primary(lambda: _write(job))
        _finish(job)
    except Stopped:
        logger.info("export %s was cancelled", job.job_id)
    except AnalyticsUnavailable as error:
        logger.info("export %s waits: %s", job.job_id, error)
        _own(job).update(status=ExportJob.Status.WAITING, attempts=job.attempts - 1)
    except SoftTimeLimitExceeded:
        _fail(job, "Making the file took longer than an hour: ask for fewer rows.")
    except OSError as error:
        _fail(job, f"The file could not be written: {error.strerror or error}.")
    except DocumentUnreadable as error:
        _fail(job, f"{error}.")
    except ObjectStorageUnavailable:
        _fail(
            job,
            "The object storage did not take the file or give a document; the server's log has the"
            " reason.",
        )
    except DatabaseError as error:
        logger.warning("export %s failed: %s", job.job_id, error)
        _fail(job, "The database could not bring the rows; the server's log has the reason.")
    except ValidationError as error:
        _fail(job, f"The question is not valid any more: {error.detail}")
    finally:
        part(job).unlink(missing_ok=True)
        cache.delete(job.pulse_key)


def _begin(job_pk: int) -> ExportJob | None:
    """The job, now running; None where there is nothing to begin."""
    with transaction.atomic():
        waiting = ExportJob.objects.select_for_update().filter(status=ExportJob.Status.WAITING)
        job = waiting.filter(pk=job_pk).first()
        if job is None:
            return None
        job.status = ExportJob.Status.RUNNING
        job.attempts += 1
        job.begun_at = timezone.now()
        job.save()
    cache.set(job.pulse_key, 0, PULSE_LASTS_SECONDS)
    return job


def _write(job: ExportJob) -> None:
    workbook = job.format == ExportJob.Format.XLSX
    export = export_of(job.kind, QueryDict(job.query), job.site, workbook=workbook)
    job.rows_total = export.count()
    ExportJob.objects.filter(pk=job.pk).update(rows_total=job.rows_total)
    settings.EXPORTS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    pulse = _Pulse(job)
    with part(job).open("wb") as file:
        if workbook:
            steps = write_xlsx(export, file, BACKGROUND_SECONDS)
        else:
            steps = _csv_steps(csv_chunks(export, BACKGROUND_SECONDS), file)
        with closing(steps):
            for done in steps:
                pulse.show(done)


def _csv_steps(chunks: Generator[tuple[bytes, int]], file: BinaryIO) -> Generator[int]:
    done = 0
    with closing(chunks):
        for chunk, rows in chunks:
            file.write(chunk)
            done += rows
            yield done


@dataclass
class _Pulse:
    """Shows life now and then, however often it is asked to."""

    job: ExportJob
    _told: float = -PULSE_SECONDS

    def show(self, done: int) -> None:
        """`done`: rows. Raises as `_show_life` does."""
        if time.monotonic() - self._told >= PULSE_SECONDS:
            self._told = time.monotonic()
            _show_life(self.job, done)


def _show_life(job: ExportJob, done: int) -> None:
    """Raises `Stopped`, and OSError where the disk is nearly full."""
    if cache.get(job.stop_key):
        raise Stopped
    if shutil.disk_usage(settings.EXPORTS_DIR).free < LEAST_FREE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    cache.set(job.pulse_key, done, PULSE_LASTS_SECONDS)


def _finish(job: ExportJob) -> None:
    """The file under its name, and away again if the job was deleted meanwhile."""
    if not _own(job).exists():
        raise Stopped
    job.size_bytes = part(job).stat().st_size
    with _alive(job):
        keep(job)
    if not _end(job, ExportJob.Status.READY) and not ExportJob.objects.filter(pk=job.pk).exists():
        remove(job)


@contextmanager
def _alive(job: ExportJob) -> Iterator[None]:
    """Show life meanwhile, whatever is waited for."""
    ended = Event()

    def beat() -> None:
        while not ended.wait(BEAT_SECONDS):
            with suppress(RedisError):
                cache.set(job.pulse_key, job.rows_total or 0, PULSE_LASTS_SECONDS)

    thread = Thread(target=beat, name="export-pulse", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _fail(job: ExportJob, sentence: str) -> None:
    job.failure = sentence
    _end(job, ExportJob.Status.FAILED)


def _end(job: ExportJob, status: str) -> bool:
    """False, and nothing is changed, where the job was deleted, or begun again by another maker."""
    job.status = status
    job.finished_at = timezone.now()
    job.expires_at = job.finished_at + KEPT
    with transaction.atomic():
        if not _own(job).select_for_update().exists():
            return False
        job.save()
    return True


def _own(job: ExportJob) -> QuerySet[ExportJob]:
    """The job, while this maker's attempt is the one that counts."""
    running = ExportJob.objects.filter(status=ExportJob.Status.RUNNING)
    return running.filter(pk=job.pk, attempts=job.attempts)


def lost_jobs() -> list[ExportJob]:
    """Jobs to be begun (again): their task, or the worker that made them, is lost.

    One that was begun too often without an end fails instead.
    """
    early = timezone.now() - LOST_AFTER
    running = ExportJob.objects.filter(status=ExportJob.Status.RUNNING)
    for job in running.filter(begun_at__lt=early):
        if cache.get(job.pulse_key) is not None:
            continue
        if job.attempts >= MOST_ATTEMPTS:
            _fail(job, f"Making the file was begun {MOST_ATTEMPTS} times and never ended.")
        else:
            _own(job).update(status=ExportJob.Status.WAITING)
    waiting = ExportJob.objects.filter(status=ExportJob.Status.WAITING, created_at__lt=early)
    return list(waiting.order_by("id"))


def delete_expired() -> None:
    """Forget jobs past their time, and files that belong to none."""
    for job in ExportJob.objects.filter(expires_at__lt=timezone.now()):
        with suppress(ObjectStorageUnavailable):  # of each by itself; it stays for the next time
            delete_job(job)
    remove_old()
